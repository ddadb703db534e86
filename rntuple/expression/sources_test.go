package expression

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/test/oracle"
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
	}, nil)
}

// TestSources evaluates expressions on chains and joins, both ways, and compares them with
// those on files.
func TestSources(t *testing.T) {
	a, b := zooFile(t, 30, 6, nil), zooFile(t, 25, 7, nil)
	chain, err := rntuple.NewChain([]rntuple.Input{{Source: a}, {Source: b}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { chain.Close() })
	join, err := rntuple.NewJoin(chain, rntuple.Friend("same", chain), rntuple.Match("row", tableFile(t), "N"))
	if err != nil {
		t.Fatal(err)
	}
	j, joined := newJudge(t, chain, 55), newJudge(t, join, 55)
	g := oracle.NewGenerator(rand.New(rand.NewPCG(8, 9)), j.fields.Types)
	for range 60 {
		text := g.Expression(3)
		if ok, difference := j.compare(text); difference != "" {
			t.Errorf("%s: %s", text, difference)
		} else if !ok {
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
		if _, difference := joined.compare(text); difference != "" {
			t.Errorf("%s: %s", text, difference)
		}
	}
	var ranges []rntuple.EntryRange
	for first := int64(1); first < 50; first += 7 {
		ranges = append(ranges, rntuple.EntryRange{First: first, End: first + 3})
	}
	selection, err := rntuple.Select(chain, ranges...)
	if err != nil {
		t.Fatal(err)
	}
	selected := newJudge(t, selection, selection.NumEntries())
	selected.number = func(i int) int64 { return selection.Entry(int64(i)) }
	for range 60 {
		text := g.Condition(3)
		if _, difference := selected.compare(text); difference != "" {
			t.Errorf("of a selection, %s: %s", text, difference)
		}
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
		if ok, difference := joined.compare(text); !ok || difference != "" {
			t.Errorf("%s: %s", text, difference)
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

func must(t testing.TB, text string) *Expression {
	t.Helper()
	e, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
