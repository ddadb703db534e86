package expression

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A row is of a table that is joined to entries.
type row struct {
	N    int32
	Name string
	Cal  float32
	List []float32
	At   struct{ X float64 }
}

// tableFile makes a table with a row for each number from -2 to 2.
func tableFile(t *testing.T) *rntuple.Reader {
	t.Helper()
	return fileOf(t, "table", nil, func(w *rntuple.Writer[row]) {
		for n := int32(-2); n <= 2; n++ {
			e := row{N: n, Name: string(rune('c' + n)), Cal: float32(n) / 2, List: make([]float32, n+2)}
			e.At.X = float64(n) * 3
			w.Write(&e)
		}
	})
}

// TestSources evaluates expressions on chains and joins, both ways, and compares them with
// those on files.
func TestSources(t *testing.T) {
	a, b := zooFile(t, 30, 6), zooFile(t, 25, 7)
	chain, err := rntuple.NewChain([]rntuple.Input{{Source: a}, {Source: b}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { chain.Close() })
	join, err := rntuple.NewJoin(chain, rntuple.Friend("same", chain), rntuple.Match("row", tableFile(t), "N"))
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{Rand: rand.New(rand.NewPCG(8, 9))}
	for range 60 {
		text := w.write(w.one("b", "i", "f", "s", "[f]"), 3)
		if ok, _ := bothWays(t, chain, rntuple.EntryRange{First: 3, End: 52}, text); !ok {
			continue
		}
		e, _ := Parse(text)
		p, err := Compile(chain, e)
		if err != nil {
			t.Fatal(err)
		}
		all, err := evaluated(chain, p, rntuple.EntryRange{End: 55})
		if err != nil {
			continue
		}
		first, _ := evaluated(a, p, rntuple.EntryRange{End: 30})
		second, _ := evaluated(b, p, rntuple.EntryRange{End: 25})
		if !reflect.DeepEqual(all, slices.Concat(first, second)) {
			t.Errorf("%s: %v, want %v and %v", text, all, first, second)
		}
		bothWays(t, join, rntuple.EntryRange{First: 1, End: 55}, text)
	}
	n := func(i int) int32 {
		p, err := Compile(chain, must(t, "N"))
		if err != nil {
			t.Fatal(err)
		}
		all, err := evaluated(chain, p, rntuple.EntryRange{First: int64(i), End: int64(i) + 1})
		if err != nil {
			t.Fatal(err)
		}
		return int32(all[0].(int64))
	}
	there := func(i int) bool { return n(i) >= -2 && n(i) <= 2 }
	for text, want := range map[string]func(i int) any{
		"row.Name ?? '-'": func(i int) any {
			if !there(i) {
				return "-"
			}
			return string(rune('c' + n(i)))
		},
		"row.N == N":                       func(i int) any { return there(i) },
		"row.N == nil":                     func(i int) any { return !there(i) },
		"row.At.X > 2 or row.Cal < 0":      func(i int) any { return there(i) && n(i) != 0 },
		"int((row.At.X ?? 0) * 2)":         func(i int) any { return int64(n(i)) * 6 * int64(bit(there(i))) },
		"same.N == N and $env.same.N == N": func(i int) any { return true },
		"len(row.List) ?? -1":              func(i int) any { return int64(n(i)+3)*int64(bit(there(i))) - 1 },
		"any(V, row.Cal > 0.9)":            nil,
		"sum(same.V) == sum(V) or isnan(sum(V))": func(i int) any {
			return true
		},
	} {
		if ok, _ := bothWays(t, join, rntuple.EntryRange{End: 55}, text); !ok {
			t.Errorf("%s is not evaluated", text)
		}
		p, err := Compile(join, must(t, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := evaluated(join, p, rntuple.EntryRange{End: 55})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		for i := range got {
			if want != nil && got[i] != want(i) {
				t.Errorf("%s: entry %d, with N %d: %v, want %v", text, i, n(i), got[i], want(i))
			}
		}
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func must(t *testing.T, text string) *Expression {
	t.Helper()
	e, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
