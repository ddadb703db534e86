package rntuple_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/cpptype"
	"github.com/go-rntuple/go-rntuple/internal/judge"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// maker makes random types and values.
type maker struct{ *rand.Rand }

var scalars = []string{"bool", "char", "std::byte", "std::int8_t", "std::uint8_t", "std::int16_t", "std::uint16_t",
	"std::int32_t", "std::uint32_t", "std::int64_t", "std::uint64_t", "float", "double", "std::string"}

// typ returns a C++ type nested at most so deep.
func (m maker) typ(depth int) string {
	if depth == 0 || m.IntN(3) == 0 {
		return scalars[m.IntN(len(scalars))]
	}
	inner := func() string { return m.typ(depth - 1) }
	switch m.IntN(12) {
	case 0:
		return fmt.Sprintf("std::array<%s,%d>", inner(), 1+m.IntN(3))
	case 1:
		return fmt.Sprintf("std::bitset<%d>", 1+m.IntN(70))
	case 2:
		return fmt.Sprintf("std::optional<%s>", inner())
	case 3:
		return fmt.Sprintf("std::unique_ptr<%s>", inner())
	case 4:
		return fmt.Sprintf("std::pair<%s,%s>", inner(), inner())
	case 5:
		return fmt.Sprintf("std::tuple<%s,%s,%s>", inner(), inner(), inner())
	case 6:
		return fmt.Sprintf("std::map<%s,%s>", scalars[3+m.IntN(len(scalars)-3)], inner())
	case 7:
		return fmt.Sprintf("std::set<%s>", scalars[3+m.IntN(len(scalars)-3)])
	case 8:
		return fmt.Sprintf("std::variant<%s,%s,%s>", inner(), inner(), inner())
	case 9:
		return "std::atomic<std::int32_t>"
	}
	return fmt.Sprintf("std::vector<%s>", inner())
}

// value returns a dynamic value of f.
func (m maker) value(f *schema.Field) any {
	items := func(n int) []any {
		var all []any
		for range n {
			all = append(all, m.value(f.Children[0]))
		}
		return all
	}
	switch f.Shape {
	case schema.Scalar:
		return m.scalar(f.Kind())
	case schema.String:
		return strings.Repeat("xyz"[m.IntN(3):], m.IntN(4)) + string([]byte{byte(m.Uint32())})[:m.IntN(2)]
	case schema.Bitset:
		bits := make(value.Bits, f.ArraySize)
		for i := range bits {
			bits[i] = m.IntN(2) == 0
		}
		return bits
	case schema.Array:
		return items(int(f.ArraySize))
	case schema.Wrapper:
		return m.value(f.Children[0])
	case schema.Optional:
		if m.IntN(2) == 0 {
			return nil
		}
		v := m.value(f.Children[0])
		if _, isSome := v.(value.Some); v == nil || isSome {
			return value.Some{Value: v}
		}
		return v
	case schema.Record: // pairs and tuples
		var all []any
		for _, child := range f.Children {
			all = append(all, m.value(child))
		}
		return all
	case schema.Variant:
		if i := m.IntN(len(f.Children) + 1); i < len(f.Children) {
			return value.Alternative{Index: i, Value: m.value(f.Children[i])}
		}
		return nil
	}
	n := m.IntN(4) * m.IntN(2)
	if !f.IsMap() {
		return items(n)
	}
	pair := f.Children[0].Children
	all := value.Map{StringKeys: pair[0].Shape == schema.String}
	for range n {
		all.Elements = append(all.Elements, value.KeyValue{Key: m.value(pair[0]), Value: m.value(pair[1])})
	}
	return all
}

func (m maker) scalar(kind cpptype.Kind) any {
	v := m.Uint64() >> m.IntN(64)
	switch kind {
	case cpptype.Bool:
		return v&1 != 0
	case cpptype.Char, cpptype.Int8:
		return int8(v)
	case cpptype.Byte, cpptype.UInt8:
		return uint8(v)
	case cpptype.Int16:
		return int16(v)
	case cpptype.UInt16:
		return uint16(v)
	case cpptype.Int32:
		return int32(v)
	case cpptype.UInt32:
		return uint32(v)
	case cpptype.Int64:
		return int64(v)
	case cpptype.UInt64:
		return v
	case cpptype.Float32:
		return math.Float32frombits(uint32(v))
	}
	return math.Float64frombits(v)
}

// exact is the text of an entry. It tells apart all values but NaNs.
func exact(r value.Record) string { return fmt.Sprintf("%#v", r) }

// TestRandom writes random values of random types, with pages and clusters cut
// at random places, and fields added on the way, and reads them back.
func TestRandom(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	for seed := range rounds {
		m := maker{rand.New(rand.NewPCG(7, uint64(seed)))}
		var file memory
		settings := []compress.Settings{0, 101, 404, 501}[m.IntN(4)]
		opts := append([]rntuple.WriteOption{
			rntuple.Compression(settings), rntuple.MaxUnzippedPageSize(1 + m.Int64N(200)), rntuple.ClusterSize(1 + m.Int64N(3000)),
			rntuple.PageBufferBudget(1 + m.Int64N(4000)), rntuple.Workers(1 + m.IntN(3)), rntuple.SharePages(m.IntN(4) > 0), rntuple.PageChecksums(m.IntN(4) > 0),
		}, fixed...)
		if m.IntN(3) == 0 {
			opts = append(opts, rntuple.MaxKeySize(200+m.Int64N(2000)))
		}
		out, err := rntuple.NewFile(&file, "random.root", opts...)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		fields := func(n int) (all []*schema.FieldDocument) {
			for range n {
				typ := m.typ(3)
				f, err := schema.FieldOf(fmt.Sprint("f", count), typ)
				if err != nil {
					t.Fatalf("seed %d: %s: %v", seed, typ, err)
				}
				all = append(all, f)
				count++
			}
			return all
		}
		w, err := rntuple.NewRecordWriter(out, "random", &schema.Document{Name: "random", Fields: fields(1 + m.IntN(5))}, opts...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		var want, wantExact []string
		var written []value.Record
		for range m.IntN(60) {
			switch m.IntN(30) {
			case 0:
				w.CommitCluster()
			case 1:
				w.CommitClusterGroup()
			case 2:
				if err := w.Extend(fields(1)...); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			var r value.Record
			for _, f := range w.Schema().Fields {
				r.Names, r.Values = append(r.Names, f.Name), append(r.Values, m.value(f))
			}
			if err := w.Write(&r); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			written = append(written, r)
		}
		for _, r := range written {
			entry := &schema.Field{Shape: schema.Record, Children: w.Schema().Fields}
			for _, f := range w.Schema().Fields[len(r.Names):] { // added later
				r.Names, r.Values = append(r.Names, f.Name), append(r.Values, zero(f))
			}
			want, wantExact = append(want, string(judge.Append(nil, entry, r))), append(wantExact, exact(r))
		}
		if err := w.Close(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := out.Close(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r, err := rntuple.NewReader(bytes.NewReader(file.b), int64(len(file.b)), "")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := judged(t, r, r.Schema().Fields)
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Fatalf("seed %d: %d entries, want %d; entry %d is\n%s\nwant\n%s", seed, len(got), len(want), i, got[min(i, len(got)-1)], want[i])
			}
		}
		records, err := rntuple.RecordsOf(r)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, record := range records.All() {
			if s := exact(record); s != wantExact[i] {
				t.Fatalf("seed %d: entry %d is\n%s\nwant\n%s", seed, i, s, wantExact[i])
			}
		}
		if records.Err() != nil {
			t.Fatalf("seed %d: %v", seed, records.Err())
		}
	}
}

// zero is the value that a field has in entries from before it was added.
func zero(f *schema.Field) any {
	switch f.Shape {
	case schema.Scalar:
		return maker{rand.New(zeros{})}.scalar(f.Kind())
	case schema.String:
		return ""
	case schema.Bitset:
		return make(value.Bits, f.ArraySize)
	case schema.Array:
		var all []any
		for range f.ArraySize {
			all = append(all, zero(f.Children[0]))
		}
		return all
	case schema.Wrapper:
		return zero(f.Children[0])
	case schema.Record:
		var all []any
		for _, child := range f.Children {
			all = append(all, zero(child))
		}
		return all
	case schema.Optional, schema.Variant:
		return nil
	}
	if f.IsMap() {
		return value.Map{StringKeys: f.Children[0].Children[0].Shape == schema.String}
	}
	return []any(nil)
}

type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }
