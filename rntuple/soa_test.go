package rntuple_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strconv"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestSoA reads a field whose C++ type is a struct of arrays in all the forms
// that suit it, and compares them with ROOT's values.
func TestSoA(t *testing.T) {
	r, err := rntuple.Open("../testdata/good/special_soa.root", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	type point struct {
		X  float32 `rntuple:"fX"`
		ID int32   `rntuple:"fId"`
	}
	type arrays struct {
		X  []float32 `rntuple:"soa.fX"`
		ID []int32   `rntuple:"soa.fId"`
	}
	rows, err := rntuple.ViewOf[[]point](r, "soa")
	if err != nil {
		t.Fatal(err)
	}
	columns, err := rntuple.ViewOf[arrays](r, "")
	if err != nil {
		t.Fatal(err)
	}
	flat, err := rntuple.JaggedOf[float32](r, "soa.fX")
	if err != nil {
		t.Fatal(err)
	}
	dynamic, err := rntuple.ViewOf[[]value.Record](r, "soa")
	if err != nil {
		t.Fatal(err)
	}
	want := soaValues(t)
	items := 0
	for i, w := range want {
		row, err := rows.At(int64(i))
		if err != nil || len(row) != len(w) {
			t.Fatalf("entry %d: %v, %v, expected %v", i, row, err, w)
		}
		column, err := columns.At(int64(i))
		if err != nil || len(column.X) != len(w) || len(column.ID) != len(w) {
			t.Fatalf("entry %d: %v, %v, expected %v", i, column, err, w)
		}
		records, err := dynamic.At(int64(i))
		if err != nil || len(records) != len(w) {
			t.Fatalf("entry %d: %v, %v, expected %v", i, records, err, w)
		}
		xs, _, err := flat.Read(make([]int64, 2), nil, int64(i))
		if err != nil || len(xs) != len(w) {
			t.Fatalf("entry %d: %v, %v, expected %v", i, xs, err, w)
		}
		for j, w := range w {
			items++
			got := []value.Record{
				{Values: []any{row[j].X, row[j].ID}},
				{Values: []any{column.X[j], column.ID[j]}},
				{Values: records[j].Values},
				{Values: []any{xs[j], w[1]}},
			}
			for form, g := range got {
				if !reflect.DeepEqual(g.Values, w) {
					t.Errorf("entry %d, item %d, form %d: %v, expected %v", i, j, form, g.Values, w)
				}
			}
		}
	}
	if len(want) != int(r.NumEntries()) || items == 0 {
		t.Errorf("%d entries with %d items, expected %d", r.NumEntries(), items, len(want))
	}
}

// soaValues returns what ROOT read of special_soa.root: of every entry the items
// and of these fX and fId.
func soaValues(t *testing.T) (entries [][][]any) {
	f, err := os.Open("../testdata/good/special_soa.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		var entry struct {
			SoA []struct {
				X  string `json:"fX"`
				ID int32  `json:"fId"`
			} `json:"soa"`
		}
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			t.Fatal(err)
		}
		var items [][]any
		for _, item := range entry.SoA {
			bits, err := strconv.ParseUint(item.X, 0, 32)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, []any{math.Float32frombits(uint32(bits)), item.ID})
		}
		entries = append(entries, items)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return entries
}
