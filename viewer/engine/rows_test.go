package engine

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/test/golden"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// expected returns the RNTuples whose values ROOT has printed.
func expected(t *testing.T) (all []golden.Expected) {
	t.Helper()
	for _, name := range []string{"manifest.json", "special_manifest.json"} {
		some, err := golden.Manifest(filepath.Join(good, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range some {
			if e.AttrSet == "" && e.JSONL != "" {
				all = append(all, e)
			}
		}
	}
	return all
}

// bits are floats in what ROOT has printed.
var bits = regexp.MustCompile(`"0x([0-9a-f]{8}|[0-9a-f]{16})"`)

// asCat returns values that ROOT has printed in the form of rnt cat: floats as numbers.
func asCat(b []byte) []byte {
	return bits.ReplaceAllFunc(b, func(b []byte) []byte {
		digits := string(b[3 : len(b)-1])
		n, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			panic(err) // the expression has matched
		}
		if len(digits) == 8 {
			return value.AppendJSON(nil, math.Float32frombits(uint32(n)))
		}
		return value.AppendJSON(nil, math.Float64frombits(n))
	})
}

// differs reports whether ROOT's values of a field have another form than those of rnt cat, but for
// floats.
func differs(f *schema.Field) bool {
	return f.Shape == schema.Variant || f.Shape == schema.Streamer || f.Kind().IsUnordered() ||
		slices.ContainsFunc(f.Children, differs)
}

// TestRows compares the rows of all files with what ROOT has read.
func TestRows(t *testing.T) {
	compared := 0
	for _, x := range expected(t) {
		t.Run(x.JSONL, func(t *testing.T) {
			e, o := opened(t, filepath.Join(good, x.File))
			i := slices.IndexFunc(o.NTuples, func(n NTuple) bool { return n.Name == x.Ntuple })
			if i < 0 { // the newest cycle is not named
				x.Ntuple, _, _ = strings.Cut(x.Ntuple, ";")
				i = slices.IndexFunc(o.NTuples, func(n NTuple) bool { return n.Name == x.Ntuple })
			}
			if i < 0 || int64(o.NTuples[i].Entries) != x.Entries || o.NTuples[i].Error != nil {
				t.Fatalf("%+v has no %s of %d entries", o.NTuples, x.Ntuple, x.Entries)
			}
			r, err := rntuple.Open(filepath.Join(good, x.File), x.Ntuple, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			zipped, err := gzip.NewReader(bytes.NewReader(read(t, filepath.Join(good, x.JSONL))))
			if err != nil {
				t.Fatal(err)
			}
			want := bufio.NewReader(zipped)
			for first := int64(0); first < x.Entries; {
				rows := ask[Rows](t, e, "rows", map[string]any{"ntuple": x.Ntuple, "first": first, "count": 7})
				if int64(rows.First) != first || len(rows.Lines) == 0 || len(rows.Lines) > 7 {
					t.Fatalf("%d rows from %d on", len(rows.Lines), rows.First)
				}
				first += int64(len(rows.Lines))
				for _, line := range rows.Lines {
					text, err := want.ReadBytes('\n')
					if err != nil {
						t.Fatal(err)
					}
					var a, b map[string]json.RawMessage
					if err := errors.Join(json.Unmarshal([]byte(line), &a), json.Unmarshal(text, &b)); err != nil {
						t.Fatal(err)
					}
					for _, f := range r.Schema().Fields {
						if differs(f) {
							continue
						}
						if compared++; !bytes.Equal(a[f.Name], asCat(b[f.Name])) {
							t.Errorf("field %s is %s, want %s", f.Name, a[f.Name], asCat(b[f.Name]))
						}
					}
				}
			}
			if rows := ask[Rows](t, e, "rows", map[string]any{"ntuple": x.Ntuple, "first": x.Entries,
				"count": 7}); len(rows.Lines) > 0 {
				t.Errorf("there are rows behind the end")
			}
		})
	}
	if compared < 1000 {
		t.Errorf("only %d values were compared", compared)
	}
}

// TestDownload compares downloads with rows.
func TestDownload(t *testing.T) {
	e, _ := opened(t, dimuon)
	get := func(params map[string]any) (d Downloaded, text []byte) {
		t.Helper()
		d, _, err := try[Downloaded](e, "download", params, func(a Answer) { text = append(text, a.Bytes["chunk"]...) })
		if err != nil {
			t.Fatalf("%v: %v", params, err)
		}
		return d, text
	}
	rows := ask[Rows](t, e, "rows", map[string]any{"first": 5, "count": 1000, "fields": []string{"run", "Muon_pt"}})
	d, text := get(map[string]any{"format": "jsonl", "first": 5, "count": 1000, "fields": []string{"run", "Muon_pt"}})
	if want := strings.Join(rows.Lines, "\n") + "\n"; string(text) != want || d.Rows != 1000 ||
		d.Name != "dimuon_Events.jsonl" || d.MIME != "application/jsonl" {
		t.Errorf("%+v, %d bytes, want %d", d, len(text), len(want))
	}
	two := 0
	numbers := ask[Rows](t, e, "rows", map[string]any{"first": 5, "count": 1000, "fields": []string{"nMuon"}})
	for _, line := range numbers.Lines {
		if line == `{"nMuon":2}` {
			two++
		}
	}
	d, text = get(map[string]any{"format": "csv", "first": 5, "count": 1000, "fields": []string{"nMuon", "Muon_pt"},
		"where": "nMuon == 2"})
	table, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || int(d.Rows) != two || len(table) != two+1 || two == 0 ||
		!slices.Equal(table[0], []string{"nMuon", "Muon_pt"}) || table[1][0] != "2" {
		t.Errorf("%+v, %d rows, want %d, %v", d, len(table), two, err)
	}
	d, text = get(map[string]any{"format": "csv", "fields": []string{"run"}, "where": "nMuon < 0"})
	if d.Rows != 0 || string(text) != "run\n" {
		t.Errorf("%+v, %q", d, text)
	}
	d, text = get(map[string]any{"format": "jsonl"})
	if int(d.Rows) != 80_000 || bytes.Count(text, []byte("\n")) != 80_000 {
		t.Errorf("%+v", d)
	}
}
