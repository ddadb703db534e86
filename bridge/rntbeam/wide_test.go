package rntbeam_test

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A wide has fields of types that Beam's own coder of structs does not know.
type wide struct {
	ID    int64
	Small int8
	U16   uint16
	U64   uint64
	Any   any `rntuple:",type=std::variant<std::int32_t,std::string>"`
	Map   map[string]int32
	Ptr   *float32
	Array [3]int16
	At    time.Time
	Bits  [9]bool `rntuple:",type=std::bitset<9>"`
	Deep  []struct {
		S []string
		P *pair
	}
}

type pair struct{ X, Y uint8 }

func init() {
	rntbeam.Register[wide]()
	beam.RegisterFunction(sameWide)
}

func sameWide(k int64, w wide) (int64, wide) { return k, w }

// TestWideStructs reads structs of many types, and writes them again, in order.
func TestWideStructs(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.root"), filepath.Join(dir, "out.root")
	w, err := rntuple.Create[wide](in, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(300) {
		x := float32(i) / 3
		e := wide{ID: i, Small: int8(-i), U16: uint16(65535 - i), U64: 1<<64 - 1 - uint64(i), Ptr: &x,
			At: time.Unix(i, i).UTC(), Array: [3]int16{int16(i)}}
		e.Bits[i%9] = true
		switch i % 3 {
		case 0:
			e.Any, e.Ptr = int32(i), nil
		case 1:
			e.Any, e.Map = "text", map[string]int32{"a": int32(i), "": 1}
		}
		e.Deep = append(e.Deep, struct {
			S []string
			P *pair
		}{[]string{"x", ""}, &pair{1, uint8(i)}})
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p, s := beam.NewPipelineWithRoot()
	events := rntbeam.Read[wide](s, in, &rntbeam.ReadOptions{Numbered: true})
	rntbeam.WriteOrdered[wide](s, out, beam.ParDo(s, sameWide, events), nil)
	mustRun(t, p)
	want, got := all(t, in), all(t, out)
	if len(want) != 300 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d entries became %d, or others", len(want), len(got))
	}
}

func all(t *testing.T, path string) (entries []wide) {
	t.Helper()
	r, err := rntuple.Open(path, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e, err := range rntuple.Entries[wide](r) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, *e)
	}
	return entries
}
