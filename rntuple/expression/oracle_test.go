package expression

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/internal/test/oracle"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// expected returns a value of the oracle as function at has it.
func expected(v any) any {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) {
			return "NaN"
		}
		return fmt.Sprintf("%b", v)
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, expected(item))
		}
		return out
	}
	return v
}

// A judge compares expressions with what the oracle says of them.
type judge struct {
	s       rntuple.Source
	fields  *oracle.Fields
	entries []map[string]any
	number  func(i int) int64 // which entry an error of entry i names
	limited int               // expressions that took too much to be compared
}

func newJudge(t testing.TB, s rntuple.Source, entries int64) *judge {
	t.Helper()
	fields, err := oracle.FieldsOf(s)
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{s: s, fields: fields, number: func(i int) int64 { return int64(i) }}
	for entry := range entries {
		values, err := fields.Entry(entry)
		if err != nil {
			t.Fatal(err)
		}
		j.entries = append(j.entries, values)
	}
	return j
}

// compare reports what differs, and whether the expression is one.
func (j *judge) compare(text string) (valid bool, difference string) {
	tree, err := syntax.Parse(text)
	if err != nil {
		return false, ""
	}
	want, err1 := oracle.Check(tree, j.fields.Types)
	e, err := Parse(text)
	if err != nil {
		return false, err.Error()
	}
	p, err2 := Compile(j.s, e)
	if err1 != nil || err2 != nil {
		if err2 == nil && strings.HasSuffix(err1.Error(), oracle.KeyMissing) {
			return false, "" // the plan knows that it is not: it is an item of an array of a fixed size, for example
		}
		if (err1 == nil) != (err2 == nil) {
			return false, fmt.Sprintf("%v, want %v", err2, err1)
		}
		return false, ""
	}
	var values []any
	failed, failure := "", error(nil)
	for i, entry := range j.entries {
		v, err := want.Eval(entry)
		if err != nil && strings.Contains(err.Error(), oracle.TooLong) {
			j.limited++
			return true, ""
		}
		if err != nil {
			failed, failure = fmt.Sprintf("entry %d", j.number(i)), err
			break
		}
		values = append(values, expected(v))
	}
	if t := p.types[0]; t.Kind == Bool && t.Depth == 0 {
		if difference := j.chosen(e, values, failed); difference != "" {
			return true, difference
		}
	}
	in := p.instance()
	defer p.pool.Put(in)
	in.begin(j.s, 0)
	var got []any
	for b, err := range p.evaluated(in, j.s, rntuple.EntryRange{End: int64(len(j.entries))}, func(r *run) {
		if p.types[0].Kind == Other {
			got = append(got, values[min(len(got), len(values)):min(len(got)+r.batch.Len, len(values))]...)
			return
		}
		a := in.outputs[0](r)
		for i := range r.batch.Len {
			got = append(got, at(a, i))
		}
	}) {
		var limited *frame.LimitError
		if errors.As(err, &limited) {
			j.limited++
			return true, ""
		}
		if err != nil {
			if entryOfError(err) != failed {
				return true, fmt.Sprintf("%v, want %s %v", err, failed, failure)
			}
			return true, ""
		}
		if failed != "" && int(b.First)+b.Len > len(values) {
			return true, fmt.Sprintf("want %s: %v", failed, failure)
		}
	}
	for i, v := range values {
		if !reflect.DeepEqual(got[i], v) {
			return true, fmt.Sprintf("entry %d: %v, want %v (%v)", i, got[i], v, p.types[0])
		}
	}
	return true, ""
}

// chosen compares the entries that a condition chooses with its values.
func (j *judge) chosen(e *Expression, values []any, failed string) string {
	var got []rntuple.EntryRange
	for r, err := range e.Condition().Select(j.s, rntuple.EntryRange{End: int64(len(j.entries))}) {
		var limited *frame.LimitError
		if errors.As(err, &limited) {
			j.limited++
			return ""
		}
		if err != nil {
			if entryOfError(err) != failed {
				return fmt.Sprintf("as a condition: %v, want %q", err, failed)
			}
			return ""
		}
		got = append(got, r)
	}
	if failed != "" {
		return fmt.Sprintf("as a condition: no error of %s", failed)
	}
	selection, err := rntuple.Where(j.s, e.Condition(), &rntuple.FoldOptions{Workers: 3})
	var limited *frame.LimitError
	if errors.As(err, &limited) { // of batches that begin elsewhere
		j.limited++
		return ""
	}
	if err != nil || !slices.Equal(slices.Collect(selection.Ranges()), merged(got)) {
		return fmt.Sprintf("with several workers: %v, want %v", err, got)
	}
	for i, v := range values {
		if is := slices.ContainsFunc(got, func(r rntuple.EntryRange) bool {
			return r.First <= int64(i) &&
				int64(i) < r.End
		}); is != (v == true) {
			return fmt.Sprintf("as a condition, entry %d: %v, want %v", i, is, v)
		}
	}
	return ""
}

// merged returns ranges in order without those that are adjacent.
func merged(all []rntuple.EntryRange) (out []rntuple.EntryRange) {
	for _, r := range all {
		if last := len(out) - 1; last >= 0 && out[last].End == r.First {
			out[last].End = r.End
		} else {
			out = append(out, r)
		}
	}
	return out
}

// TestOracle compares values and errors of random expressions with those of the oracle, and the
// entries that they choose as conditions, in batches of all sizes. With RNTUPLE_CAMPAIGN=1 these
// are a million.
func TestOracle(t *testing.T) {
	random := sampletest.Rand(t)
	files, each := 5, 1000
	if sampletest.Whole() {
		files = 1000
	}
	defer func(size int) { batchSize = size }(batchSize)
	valid, limited := 0, 0
	for range files {
		path := filepath.Join(t.TempDir(), "zoo.root")
		if err := oracle.WriteZoo(path, 40, random.Uint64(), nil); err != nil {
			t.Fatal(err)
		}
		// An expression that takes longer than others do is no case: the oracle would take for
		// ever.
		r, err := rntuple.Open(path, "", &rntuple.ReadOptions{Limits: rntuple.Limits{ExpressionBytes: 4 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		j := newJudge(t, r, r.NumEntries())
		g := oracle.NewGenerator(random, j.fields.Types)
		for i := range each {
			batchSize = 1 + random.IntN(50)
			text := g.Expression(1 + i%4)
			if i%3 == 0 {
				text = g.Condition(1 + i%3)
			}
			ok, difference := j.compare(text)
			if ok {
				valid++
			}
			if difference != "" {
				t.Errorf("%s\n\t%s", text, difference)
			}
		}
		r.Close()
		limited += j.limited
	}
	if valid < files*each*9/10 || limited > files*each/50 {
		t.Errorf("of %d texts, %d are expressions, of which %d take too much to be compared", files*each, valid, limited)
	}
}
