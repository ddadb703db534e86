package rntarrow_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// computing is a file of ten entries in clusters of three: N is the number of the entry, and X has the numbers below it.
func computing(t *testing.T) *rntuple.Reader {
	t.Helper()
	type event struct {
		N int32
		X []float32
	}
	path := filepath.Join(t.TempDir(), "f.root")
	w, err := rntuple.Create[event](path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(10) {
		e := event{N: i}
		for k := range i {
			e.X = append(e.X, float32(k))
		}
		w.Write(&e)
		if i%3 == 2 {
			w.CommitCluster()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.Open(path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestCompute computes columns beside fields, and alone, in batches of several sizes, of a file and of a selection of
// its odd entries.
func TestCompute(t *testing.T) {
	r := computing(t)
	odd, err := expression.Parse("N % 2 == 1")
	if err != nil {
		t.Fatal(err)
	}
	selection, err := rntuple.Where(r, odd.Condition(), nil)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := expression.ParseFields("twice=2*N", "narrow:std::uint8_t=twice+1",
		"half:std::vector<float>=map(X, #/2)",
		"last:std::optional<std::int16_t>=int(X[-1])", "deep=map(X, map(X, N))", "word=string(N)")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []rntuple.Source{r, selection} {
		for _, names := range [][]string{{}, {"N"}} {
			for size := range 5 {
				for first := range int64(4) {
					records, err := rntarrow.NewRangeReader(s, rntuple.EntryRange{First: first, End: 9},
						&rntarrow.Options{Fields: names, Compute: fields, EntryNumbers: "entry", BatchSize: size})
					if err != nil {
						t.Fatal(err)
					}
					got, want := "", ""
					for records.Next() {
						b, err := records.RecordBatch().MarshalJSON()
						if err != nil {
							t.Fatal(err)
						}
						got += strings.Trim(string(b), "[]\n")
						got = strings.TrimSuffix(got, "\n") + "\n"
					}
					if records.Err() != nil {
						t.Fatal(records.Err())
					}
					got = strings.ReplaceAll(got, "\n,", "\n")
					for i := first; i < 9; i++ {
						n := i
						if s == selection {
							if n = 2*i + 1; n > 9 {
								break
							}
						}
						want += row(n, len(names) > 0)
					}
					if got != want {
						t.Fatalf("fields %v, batches of %d from %d:\n%s\nwant\n%s", names, size, first, got, want)
					}
				}
			}
		}
	}
}

// TestNested selects from a selection, and checks that entries have the numbers of the file, and fields the types that the
// file was made of.
func TestNested(t *testing.T) {
	dates := arrow.NewSchema([]arrow.Field{{Name: "N", Type: arrow.PrimitiveTypes.Int32},
		{Name: "day", Type: arrow.PrimitiveTypes.Date32}}, nil)
	rows := ""
	for i := range 10 {
		rows += fmt.Sprintf(`{"N":%d,"day":"1970-01-%02d"},`, i, i+1)
	}
	r := created(t, dates, "["+strings.TrimSuffix(rows, ",")+"]")
	part, err := rntuple.Select(r, rntuple.EntryRange{First: 2, End: 9})
	if err != nil {
		t.Fatal(err)
	}
	odd, err := expression.Parse("N % 2 == 1")
	if err != nil {
		t.Fatal(err)
	}
	selection, err := rntuple.Where(part, odd.Condition(), nil)
	if err != nil {
		t.Fatal(err)
	}
	records, err := rntarrow.NewReader(selection, &rntarrow.Options{EntryNumbers: "entry"})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for records.Next() {
		b, err := records.RecordBatch().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		got += string(b)
	}
	want := ""
	for _, i := range []int{3, 5, 7} {
		want += fmt.Sprintf("{\"N\":%d,\"day\":\"1970-01-%02d\",\"entry\":%d}\n,", i, i+1, i)
	}
	if want = "[" + strings.TrimSuffix(want, ",") + "]"; got != want {
		t.Errorf("%s, want %s; %v", got, want, records.Err())
	}
}

// row returns an entry in JSON, whose names are sorted.
func row(n int64, field bool) string {
	text, last := "{", "null"
	if field {
		text += fmt.Sprintf(`"N":%d,`, n)
	}
	half := []string{}
	for k := range n {
		half = append(half, fmt.Sprint(float64(k)/2))
		last = fmt.Sprint(k)
	}
	row := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%d,", n), int(n)), ",")
	deep := strings.TrimSuffix(strings.Repeat("["+row+"],", int(n)), ",")
	return text + fmt.Sprintf(`"deep":[%s],"entry":%d,"half":[%s],"last":%s,"narrow":%d,"twice":%d,"word":"%d"}`+"\n", deep, n,
		strings.Join(half, ","), last, 2*n+1, 2*n, n)
}

// TestComputeErrors computes numbers that do not fit, and wrong expressions.
func TestComputeErrors(t *testing.T) {
	r := computing(t)
	for text, want := range map[string]string{
		"f:std::uint8_t=N-5":       "-5",
		"f:std::int8_t=N*100":      "200",
		"f:float=1e300*float(N+1)": "1e+300",
		"f:std::vector<float>=N":   "does not take",
		"N=1":                      "has the name",
		"E=1":                      "has the name",
		"f=Nothing":                "Nothing",
		"f:std::vector<int8_t>=map(X, int(#)*50)": "150",
	} {
		fields, err := expression.ParseFields(text)
		if err != nil {
			t.Fatal(err)
		}
		records, err := rntarrow.NewReader(r, &rntarrow.Options{Compute: fields, EntryNumbers: "E"})
		if err == nil {
			for records.Next() {
			}
			err = records.Err()
			if !errors.Is(err, rntuple.ErrRange) {
				t.Errorf("%s: error %v", text, err)
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	fields, err := expression.ParseFields("f=0")
	if err != nil {
		t.Fatal(err)
	}
	records, err := rntarrow.NewReader(r, &rntarrow.Options{Fields: []string{}, Compute: fields})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for records.Next() {
		rows += records.RecordBatch().Column(0).(*array.Int64).Len()
	}
	if rows != 10 || records.Err() != nil {
		t.Errorf("%d rows, error %v", rows, records.Err())
	}
}
