package expression_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// typed returns the values of the first expression of a program as text, with those that pointers
// point at.
func typed[T any](p *expression.Program, s *rntuple.Reader) (string, error) {
	values, err := expression.Values[T](p, 0)
	if err != nil {
		return "", err
	}
	var all []T
	for b, err := range p.In(s, rntuple.EntryRange{End: s.NumEntries()}) {
		if err != nil {
			return "", err
		}
		all = append(all, values(b)...)
	}
	return strings.Trim(pointed(reflect.ValueOf(all)), "[]"), nil
}

// pointed returns a value as text, with those that pointers point at.
func pointed(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return "&" + pointed(v.Elem())
	case reflect.Slice:
		var items []string
		for i := range v.Len() {
			items = append(items, pointed(v.Index(i)))
		}
		return fmt.Sprint(items)
	}
	return fmt.Sprint(v)
}

// TestValues asks for values of expressions as Go types that fit, and that do not.
func TestValues(t *testing.T) {
	r, err := rntuple.Open(few(t), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, test := range []struct {
		text string
		get  func(*expression.Program, *rntuple.Reader) (string, error)
		want string
	}{
		{"N", typed[int64], "-1 16777216 -9223372036854775808"},
		{"N", typed[*int64], "&-1 &16777216 &-9223372036854775808"},
		{"N < 0", typed[bool], "true false true"},
		{"S + '!'", typed[string], "a! ! bc!"},
		{"O", typed[*float64], "nil &0.5 nil"},
		{"X", typed[[]float64], "[] [1.5] [1.5 2.5]"},
		{"X", typed[[]*float64], "[] [&1.5] [&1.5 &2.5]"},
		{"[O, 1.0]", typed[[]*float64], "[nil &1] [&0.5 &1] [nil &1]"},
		{"Y", typed[[][]float64], "[[]] [[1] [2 3]] []"},
		{"[S, S]", typed[[]string], "[a a] [ ] [bc bc]"},
		{"Y[0]", typed[*[]float64], "&[] &[1] nil"},
		{"Y[0]", typed[[]float64], "![]float64 does not fit Y[0] (array of float, may be missing); *[]float64 does"},
		{"N", typed[float64], "!int); int64 does"},
		{"N", typed[int], "!int); int64 does"},
		{"N", typed[**int64], "!**int64 does not fit"},
		{"N", typed[any], "!interface {} does not fit"},
		{"O", typed[float64], "!float, may be missing); *float64 does"},
		{"X", typed[float64], "!array of float); []float64 does"},
		{"X", typed[[][]float64], "!array of float); []float64 does"},
		{"[[O]]", typed[[][]float64], "!; [][]*float64 does"},
		{"S", typed[[]byte], "!string); string does"},
		{"{a: N}", typed[int64], "!has no values of one type"},
		// An item has the type of its array, whatever its place holds.
		{"-[N, nil][1]", typed[*int64], "nil nil nil"},
		{"[[nil], [N]][0][0] + 1", typed[*int64], "nil nil nil"},
		{"[{a: nil}, {a: N}][0].a + 1", typed[*int64], "nil nil nil"},
		{"[{a: 1}, {a: 2.5}][0].a", typed[float64], "1 1 1"},
		{"[{a: [1]}, {a: [O]}][0].a[0]", typed[*float64], "&1 &1 &1"},
		{"[[[]], [[N]]][0][0]", typed[*[]int64], "&[] &[] &[]"},
		{"[[], [N]][0]", typed[[]int64], "[] [] []"},
		{"int(N + (2 ** 60 > 0 ? 9007199254740993 : 0)) == 9007199254740993 + N", typed[bool], "true true true"},
	} {
		e, err := expression.Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := expression.Compile(r, e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := test.get(p, r)
		if failure, fails := strings.CutPrefix(test.want, "!"); fails {
			if err == nil || !strings.Contains(err.Error(), failure) {
				t.Errorf("%s: error %v, want %s", test.text, err, failure)
			}
		} else if want := strings.Trim(test.want, "[]"); got != want || err != nil {
			t.Errorf("%s: %s, error %v, want %s", test.text, got, err, want)
		}
	}
}
