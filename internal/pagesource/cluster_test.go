package pagesource

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// pagesOf returns pages of so many elements, from an element of the column on.
func pagesOf(offset int64, elements ...uint32) envelope.ColumnPages {
	pages := envelope.ColumnPages{ElementOffset: offset, Compression: 505}
	for i, n := range elements {
		pages.Pages = append(pages.Pages, envelope.Page{NumElements: n, Locator: locator.At(uint64(100*i), 10)})
	}
	return pages
}

// TestChunk finds the elements of columns that are suppressed, missing or deferred.
func TestChunk(t *testing.T) {
	two := &schema.FieldDocument{Name: "two", Type: "std::int32_t", Columns: [][]schema.ColumnDocument{
		{{Type: "SplitInt32", Bits: 32}}, {{Type: "Int32", Bits: 32}},
	}}
	// The columns are two (0 and 1), v (2) and its items (3), and from entry 20 on late (4), three
	// items for each entry.
	s := schemaOf(t, []*schema.FieldDocument{two, {Name: "v", Type: "std::vector<float>"}}, 20,
		&schema.FieldDocument{Name: "late", Type: "std::array<std::int16_t,3>"})
	offsets, items := pagesOf(0, 10), pagesOf(7, 100)
	const deferred = 60 // the first element of the deferred column
	for _, test := range []struct {
		name           string
		first, entries uint64
		columns        []envelope.ColumnPages
		field          string

		column          int
		zeros, elements int64
		err             string
	}{
		{"first representation", 0, 10, []envelope.ColumnPages{pagesOf(0, 4, 6), suppressed}, "two", 0, 0, 10, ""},
		{"second representation", 30, 10, []envelope.ColumnPages{suppressed, pagesOf(30, 10)}, "two", 1, 0, 10, ""},
		{"second one missing", 0, 10, []envelope.ColumnPages{pagesOf(0, 10)}, "two", 0, 0, 10, ""},
		{"both active", 0, 10, []envelope.ColumnPages{pagesOf(0, 10), pagesOf(0, 10)}, "two", 0, 0, 0,
			"representations 0 and 1 are both active"},
		{"none active", 0, 10, []envelope.ColumnPages{suppressed, suppressed}, "two", 0, 0, 0,
			"all representations of the column are suppressed"},
		{"none present", 0, 10, nil, "two", 0, 10, 10, ""},
		{"none present, of an array", 0, 10, nil, "late._0", 4, 30, 30, ""},
		{"none present, of a collection", 0, 10, nil, "v._0", 3, 0, 0, ""},
		{"too many for those that are not present", 0, math.MaxInt64/3 + 1, nil, "late._0", 0, 0, 0,
			fmt.Sprintf("%d entries are too many", int64(math.MaxInt64/3+1))},
		{"as many as possible", 0, math.MaxInt64 / 3, nil, "late._0", 4, math.MaxInt64 / 3 * 3,
			math.MaxInt64 / 3 * 3, ""},
		{"one too few", 0, 10, []envelope.ColumnPages{pagesOf(0, 4, 5)}, "two", 0, 0, 0,
			"has 9 elements, expected 10"},
		{"one too many", 0, 10, []envelope.ColumnPages{pagesOf(0, 4, 7)}, "two", 0, 0, 0,
			"has 11 elements, expected 10"},
		{"begins too early", 5, 10, []envelope.ColumnPages{pagesOf(4, 10)}, "two", 0, 0, 0,
			"begins with the element 4, expected 5"},
		{"begins too late", 5, 10, []envelope.ColumnPages{pagesOf(6, 10)}, "two", 0, 0, 0,
			"begins with the element 6, expected 5"},
		{"begins anywhere without pages", 5, 0, []envelope.ColumnPages{pagesOf(3)}, "two", 0, 0, 0, ""},
		{"collections may begin anywhere", 5, 10, []envelope.ColumnPages{{}, suppressed, offsets, items},
			"v._0", 3, 0, 100, ""},
		{"deferred, all stored", 20, 10, []envelope.ColumnPages{4: pagesOf(deferred, 30)}, "late._0", 4, 0, 30, ""},
		{"deferred, later", 40, 2, []envelope.ColumnPages{4: pagesOf(120, 6)}, "late._0", 4, 0, 6, ""},
		{"deferred, first ones missing", 18, 10, []envelope.ColumnPages{4: pagesOf(deferred, 24)}, "late._0",
			4, 6, 30, ""},
		{"deferred, nothing stored", 0, 10, []envelope.ColumnPages{4: pagesOf(deferred)}, "late._0", 4, 30, 30, ""},
		{"deferred, zeros are stored, too", 0, 10, []envelope.ColumnPages{4: pagesOf(deferred, 30)}, "late._0",
			4, 0, 30, ""},
		{"deferred, one too few", 18, 10, []envelope.ColumnPages{4: pagesOf(deferred, 23)}, "late._0", 0, 0, 0,
			"has 29 elements, expected 30"},
		{"deferred, begins too late", 18, 10, []envelope.ColumnPages{4: pagesOf(85, 5)}, "late._0", 0, 0, 0,
			"begins with the element 85, expected 54"},
		{"deferred, begins too early", 18, 10, []envelope.ColumnPages{4: pagesOf(53, 30)}, "late._0", 0, 0, 0,
			"begins with the element 53, expected 54"},
		{"entries too high", math.MaxInt64/3 + 1, 0, []envelope.ColumnPages{4: pagesOf(0)}, "late._0", 0, 0, 0,
			fmt.Sprintf("entry %d is too high", int64(math.MaxInt64/3+1))},
		{"too many entries", 0, math.MaxInt64/3 + 1, []envelope.ColumnPages{4: pagesOf(0)}, "late._0", 0, 0, 0,
			"is too high"},
	} {
		cluster := NewCluster(7, envelope.Cluster{FirstEntry: test.first, NumEntries: test.entries}, test.columns)
		f := fieldOf(t, s, test.field)
		got, err := cluster.Chunk(f, 0)
		if test.err != "" {
			want := fmt.Sprintf("page list.cluster 7.field %q at offset 0x0: %v: ", f.Path(), frame.ErrCorrupt)
			if err == nil || !errors.Is(err, frame.ErrCorrupt) || len(err.Error()) < len(want) ||
				err.Error()[:len(want)] != want ||
				!strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: error %v, want %s", test.name, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		want := Chunk{Column: s.Columns[test.column], Zeros: test.zeros, Elements: test.elements}
		if test.column < len(test.columns) {
			want.Pages, want.Compression = test.columns[test.column].Pages, test.columns[test.column].Compression
		}
		if got.Column != want.Column || got.Zeros != want.Zeros || got.Elements != want.Elements ||
			got.Compression != want.Compression || !slices.Equal(got.Pages, want.Pages) {
			t.Errorf("%s: %+v, want %+v", test.name, got, want)
		}
	}
}

// TestByEntry has an empty cluster come before the one that begins with the same entry.
func TestByEntry(t *testing.T) {
	var clusters []*Cluster
	for i, r := range [][2]uint64{{5, 3}, {8, 1}, {0, 5}, {5, 0}, {8, 0}} {
		clusters = append(clusters, NewCluster(i, envelope.Cluster{FirstEntry: r[0], NumEntries: r[1]}, nil))
	}
	slices.SortStableFunc(clusters, ByEntry)
	var got []int
	for _, c := range clusters {
		got = append(got, c.ID)
	}
	if want := []int{2, 3, 0, 4, 1}; !slices.Equal(got, want) {
		t.Errorf("clusters %v, want %v", got, want)
	}
}

// TestSharesBytes asks of pages that have an offset once or twice whether others may have it. The
// first page may lie at the start of the file.
func TestSharesBytes(t *testing.T) {
	at := func(offsets ...uint64) (pages envelope.ColumnPages) {
		for _, o := range offsets {
			pages.Pages = append(pages.Pages, envelope.Page{NumElements: 1, Locator: locator.At(o, 1)})
		}
		return pages
	}
	for _, test := range []struct {
		columns []envelope.ColumnPages
		shared  []uint64 // at least
		not     []uint64
	}{
		{[]envelope.ColumnPages{at(0, 10, 20), at(30)}, nil, []uint64{0, 10, 20, 30}},
		{[]envelope.ColumnPages{at(0, 10), at(20), at(20), at(40)}, []uint64{20}, []uint64{0, 10, 40}},
		{[]envelope.ColumnPages{at(0, 10), at(0, 10, 20)}, []uint64{0, 10}, []uint64{20}},
		{[]envelope.ColumnPages{at(0, 0)}, []uint64{0}, nil},
	} {
		c := NewCluster(0, envelope.Cluster{}, test.columns)
		for _, o := range slices.Concat(test.shared, test.not) {
			p := envelope.Page{NumElements: 1, Locator: locator.At(o, 1)}
			if got, want := c.sharesBytes(p), slices.Contains(test.shared, o); got != want {
				t.Errorf("page at %d of %v: shared %v, want %v", o, test.columns, got, want)
			}
		}
	}
}
