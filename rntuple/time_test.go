package rntuple_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
	"github.com/go-rntuple/go-rntuple/schema"
)

// writeMemory writes entries to a file in memory and opens it.
func writeMemory[T any](t *testing.T, entries ...T) *rntuple.Reader {
	t.Helper()
	b := bytesOf(t, entries...)
	r, err := rntuple.NewReader(bytes.NewReader(b), int64(len(b)), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// bytesOf returns a file with the RNTuple "n" of the given entries.
func bytesOf[T any](t *testing.T, entries ...T) []byte {
	t.Helper()
	var m memory
	f, err := rntuple.NewFile(&m, "f.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewWriter[T](f, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.WriteBatch(entries)
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return m.b
}

type stamped struct {
	time.Time
	Zone string
}

type times struct {
	At     time.Time
	Named  time.Time `rntuple:"named,desc=start of the run"`
	Micro  time.Time `rntuple:"micro,time=us"`
	Short  time.Time `rntuple:"short,type=std::uint32_t,time=s"`
	List   []time.Time
	Opt    *time.Time
	Array  [2]time.Time           `rntuple:"array,time=ms"`
	Map    map[string][]time.Time `rntuple:"map,time=s"`
	Pair   cpp.Pair[time.Time, int32]
	Stamps []stamped
	stamped
	For time.Duration
}

// TestTimes writes times and reads them back as such, and as the numbers that they
// are.
func TestTimes(t *testing.T) {
	at := time.Date(2026, 11, 22, 1, 2, 3, 456789012, time.FixedZone("", 3600))
	const s, ns = 1795305723, 456789012
	entry := times{
		At: at, Named: at, Micro: at, Short: at, List: []time.Time{at, at.Add(1)}, Opt: &at,
		Array: [2]time.Time{at, time.Unix(0, 0)},
		Map:   map[string][]time.Time{"a": {at}}, Pair: cpp.Pair[time.Time, int32]{First: at, Second: 5},
		Stamps: []stamped{{at, "CET"}}, stamped: stamped{at, "here"}, For: 3 * time.Second,
	}
	r := writeMemory(t, entry, times{At: time.Unix(0, -1), Named: at, Micro: at, Short: at, Array: [2]time.Time{at, at},
		Pair: entry.Pair, stamped: entry.stamped})
	got, err := lines(r)
	if want := fmt.Sprintf(`{"At":%[1]d%[2]d,"named":%[1]d%[2]d,"micro":%[1]d%[3]d,"short":%[1]d,"List":[%[1]d%[2]d,%[1]d%[4]d],"Opt":%[1]d%[2]d,`+
		`"array":[%[1]d%[5]d,0],"map":{"a":[%[1]d]},"Pair":[%[1]d%[2]d,5],"Stamps":[{"Time":%[1]d%[2]d,"Zone":"CET"}],"Time":%[1]d%[2]d,"Zone":"here","For":3000000000}`,
		s, ns, ns/1000, ns+1, ns/1000000); err != nil || got[0] != want {
		t.Errorf("wrote %s, %v\nwant  %s", got[0], err, want)
	}
	for _, f := range []struct{ path, typ, description string }{
		{"At", "std::int64_t", "nanoseconds since 1970-01-01 UTC"}, {"named", "std::int64_t", "start of the run"},
		{"micro", "std::int64_t", "microseconds since 1970-01-01 UTC"},
		{"short", "std::uint32_t", "seconds since 1970-01-01 UTC"},
		{"List", "std::vector<std::int64_t>", ""}, {"List._0", "std::int64_t", "nanoseconds since 1970-01-01 UTC"},
		{"Opt", "std::optional<std::int64_t>", ""}, {"array._0", "std::int64_t", "milliseconds since 1970-01-01 UTC"},
		{"map", "std::map<std::string,std::vector<std::int64_t>>", ""},
		{"Time", "std::int64_t", "nanoseconds since 1970-01-01 UTC"},
		{"For", "std::int64_t", ""},
	} {
		chain, err := r.Schema().Lookup(f.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := chain[len(chain)-1]; got.TypeName != f.typ || got.Description != f.description {
			t.Errorf("%s: a %s, %q", f.path, got.TypeName, got.Description)
		}
	}

	// What comes back is in UTC, and without what the unit does not have.
	at = at.UTC()
	want := times{
		At: at, Named: at, Micro: at.Truncate(time.Microsecond), Short: at.Truncate(time.Second),
		List: []time.Time{at, at.Add(1)}, Opt: &at,
		Array: [2]time.Time{at.Truncate(time.Millisecond), time.Unix(0, 0).UTC()},
		Map:   map[string][]time.Time{"a": {at.Truncate(time.Second)}},
		Pair:  cpp.Pair[time.Time, int32]{First: at, Second: 5}, Stamps: []stamped{{at, "CET"}},
		stamped: stamped{at, "here"}, For: 3 * time.Second,
	}
	i := 0
	for e, err := range rntuple.Entries[times](r) {
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && !reflect.DeepEqual(*e, want) {
			t.Errorf("read %+v\nwant %+v", *e, want)
		}
		if i == 1 && !e.At.Equal(time.Unix(0, -1)) {
			t.Errorf("entry 1 is %v", e.At)
		}
		i++
	}
	items, n := []time.Time(nil), 0
	if v, err := rntuple.JaggedOf[time.Time](r, "List"); err != nil {
		t.Error(err)
	} else if items, n, err = v.Read(make([]int64, 3), nil, 0); n != 2 || len(items) != 2 || !items[1].Equal(at.Add(1)) {
		t.Errorf("%d entries, items %v, %v", n, items, err)
	}
	var mismatch *schema.MismatchError
	if _, err := rntuple.ViewOf[time.Time](r, "Zone"); !errors.As(err, &mismatch) {
		t.Errorf("a string as time: %v", err)
	}
	if _, err := rntuple.ViewOf[[]time.Time](r, "Opt"); err != nil {
		t.Errorf("an optional as slice: %v", err)
	}
}

// Many times are read in pieces, across pages and clusters.
func TestManyTimes(t *testing.T) {
	type entry struct{ T time.Time }
	var entries []entry
	for i := range 3000 {
		entries = append(entries, entry{time.Unix(int64(i), int64(i)).UTC()})
	}
	r := writeMemory(t, entries...)
	v, err := rntuple.ViewOf[entry](r, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []int64{0, 1, 511, 512, 2000} {
		got := make([]entry, 1000)
		if n, err := v.Read(got, first); n != 1000 || err != nil || !reflect.DeepEqual(got, entries[first:first+1000]) {
			t.Errorf("from entry %d on: %d, %v", first, n, err)
		}
	}
}

// Times that do not fit name the entry, bytesOf and read.
func TestTimesOutOfRange(t *testing.T) {
	type entry struct{ T time.Time }
	path := filepath.Join(t.TempDir(), "f.root")
	for i, bad := range []time.Time{{}, time.Date(2263, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1676, 1, 1, 0, 0, 0, 0, time.UTC)} {
		w, err := rntuple.Create[entry](path, "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		for range i {
			w.Write(&entry{time.Unix(0, 0)})
		}
		if err := w.Write(&entry{bad}); !errors.Is(err, rntuple.ErrRange) ||
			!strings.Contains(err.Error(), fmt.Sprintf("entry %d: field \"T\"", i)) {
			t.Errorf("%v: %v", bad, err)
		}
		if err := w.Close(); !errors.Is(err, rntuple.ErrRange) {
			t.Errorf("%v: closing: %v", bad, err)
		}
	}
	type numbers struct {
		U uint64
		S int64
	}
	r := writeMemory(t, numbers{}, numbers{1, 1}, numbers{1 << 63, 1<<62 + 1})
	type nanoseconds struct{ U time.Time }
	type seconds struct {
		S time.Time `rntuple:",time=s"`
	}
	for _, v := range []func() error{
		func() error { _, err := structs[nanoseconds](r); return err },
		func() error { _, err := structs[seconds](r); return err },
	} {
		var lost *schema.ConversionError
		if err := v(); !errors.As(err, &lost) || lost.Entry != 2 {
			t.Errorf("error %v", err)
		}
	}
}

func structs[T any](r *rntuple.Reader) (all []T, err error) {
	for e, err := range rntuple.Entries[T](r) {
		if err != nil {
			return all, err
		}
		all = append(all, *e)
	}
	return all, nil
}

// TestOpaqueTypes makes sure that nothing of which nothing would be stored is
// accepted, at any depth, bytesOf or read.
func TestOpaqueTypes(t *testing.T) {
	type jet struct {
		Pt   float32
		Lock sync.Mutex
	}
	type event struct {
		Jets []jet `rntuple:"jets"`
		From map[string]*netip.Addr
	}
	type keyed struct{ M map[time.Time]int32 }
	path := filepath.Join(t.TempDir(), "f.root")
	_, err := rntuple.Create[event](path, "n", nil)
	for _, part := range []string{"rntuple_test.jet.Lock: sync.Mutex has no exported fields",
		"rntuple_test.event.From: netip.Addr has no exported fields"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %s", err, part)
		}
	}
	for what, create := range map[string]func() error{
		"netip.Addr":   func() error { _, err := rntuple.Create[netip.Addr](path, "n", nil); return err },
		"time.Time":    func() error { _, err := rntuple.Create[time.Time](path, "n", nil); return err },
		"key of a map": func() error { _, err := rntuple.Create[keyed](path, "n", nil); return err },
		"sync.Mutex": func() error {
			_, err := rntuple.Create[struct {
				V cpp.Variant2[int32, sync.Mutex]
			}](path, "n", nil)
			return err
		},
		"did you mean": func() error {
			_, err := rntuple.Create[struct {
				X int32 `rntuple:"x,optinal"`
			}](path, "n", nil)
			return err
		},
	} {
		if err := create(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}

	type plain struct{ X, Y int32 }
	r := writeMemory(t, struct {
		Jets []plain `rntuple:"jets"`
		Lock plain
	}{})
	for what, read := range map[string]func() error{
		"event.Lock: sync.Mutex": func() error { _, err := structs[struct{ Lock sync.Mutex }](r); return err },
		"netip.Addr":             func() error { _, err := rntuple.ViewOf[[]netip.Addr](r, "jets"); return err },
		"jet.Lock: sync.Mutex":   func() error { _, err := rntuple.ViewOf[[]jet](r, "jets"); return err },
		`did you mean "optional"`: func() error {
			_, err := structs[struct {
				Run int32 `rntuple:"run,optinal"`
			}](r)
			return err
		},
		"takes no options": func() error {
			_, err := rntuple.ViewOf[struct {
				Lock plain `rntuple:"-,optional"`
			}](r, "")
			return err
		},
	} {
		err := read()
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(what, "event.")) ||
			!errors.As(err, new(*schema.MismatchError)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
