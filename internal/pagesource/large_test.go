package pagesource

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// newLarge returns a tuple with pages of which parts are worth decoding: two clusters with pages of
// 9000 and 2000 doubles, which columns f and g share, and of bools.
func newLarge(t testing.TB, zipped bool) (*sheet, *known[float64], *known[float64], *known[bool]) {
	t.Helper()
	u := &sheet{tuple: newTuple(t, schemaOf(t, []*schema.FieldDocument{
		{Name: "f", Type: "double"}, {Name: "g", Type: "double"}, {Name: "b", Type: "bool"},
	}, 0))}
	if u.compression = 0; zipped {
		u.compression = 401 // LZ4
	}
	f, g, b := &known[float64]{path: "f"}, &known[float64]{path: "g"}, &known[bool]{path: "b"}
	const n = 20000
	for k := range 2 {
		f.more()
		b.more()
		for i := range n {
			f.add(float64((k*n + i) / 3))
			b.add((k*n+i)%5 == 0)
		}
		pages := f.store(u.tuple, k, 9000)
		u.cluster(n, pages, pages, b.store(u.tuple, k, n))
		u.group()
	}
	g.want = f.want
	u.probes = []probe{f, g, b}
	return u, f, g, b
}

// TestReadParts reads pages part by part, in order, back and at random, by which they are read and
// verified once.
func TestReadParts(t *testing.T) {
	const part = minPart / 8 // doubles
	for _, zipped := range []bool{false, true} {
		u, f, g, b := newLarge(t, zipped)
		for _, place := range places {
			for _, keep := range []bool{false, true} {
				for _, budget := range []int64{0, 4 << 20} {
					t.Run(fmt.Sprintf("%s,zipped=%v,keep=%v,budget=%d", place.name, zipped, keep, budget),
						func(t *testing.T) {
							synctest.Test(t, func(t *testing.T) {
								r, m := place.file(u.file)
								src := u.source(r)
								src.Budget = budget
								lending(t, src)
								all := clusters(t, src)
								a := src.NewReadAhead()
								columns := []reader{f.open(t, a), g.open(t, a), b.open(t, a)}
								if keep {
									columns[0].keep()
								}
								m.forget()
								for _, c := range all { // in order
									for first := int64(0); first < 20000; first += 5000 {
										for _, column := range columns {
											if err := column.read(t.Context(), c, first, 5000); err != nil {
												t.Fatal(err)
											}
										}
									}
								}
								u.pages(t, src, func(c *Cluster, id, page int, p envelope.Page) {
									most := 2 // columns
									if src.mapped(int64(p.Locator.Offset), int64(p.StoredSize())) != nil {
										most = 0
									}
									if n := m.count(p.Locator.Offset); n > most {
										t.Errorf("page %d of column %d in cluster %d was read %d times", page, id,
											c.ID, n)
									}
								})
								for i, column := range columns { // parts of any size, here and there
									for _, s := range []columnar.Span{
										{First: 13000, N: part}, {First: 13000 - part, N: part}, {First: 0,
											N: part - 1}, {First: 0, N: part}, {First: 1, N: part},
										{First: 9000 - part, N: part},
										{First: 9000 - part, N: part + 1}, {First: 8999, N: part + 1},
										{First: 8999, N: 2}, {First: 5, N: 2 * part}, {First: 0, N: 9000},
										{First: 5, N: part},
										{First: 6, N: part}, {First: 9000, N: 9000}, {First: 100, N: 5},
										{First: 18000, N: 2000}, {First: 0, N: 20000}, {First: 11000, N: part},
										{First: 1, N: 19999},
									} {
										for _, c := range all {
											if err := errors.Join(column.read(t.Context(), c, s.First, s.N),
												column.spans(t.Context(), c, []columnar.Span{{First: s.First,
													N: s.N / 2}, {First: s.First + s.N - 3, N: 2}}, i == 0),
												column.part(t.Context(), c, s.First, s.N)); err != nil {
												t.Fatal(err)
											}
										}
									}
								}
								a.Stop()
								synctest.Wait()
							})
						})
				}
			}
		}
	}
}

// TestSpansOfPage reads few elements of a large page, of which no others are decoded, and then
// many, for which it is.
func TestSpansOfPage(t *testing.T) {
	for _, place := range places {
		u, f, _, _ := newLarge(t, false)
		r, m := place.file(u.file)
		src := u.source(r)
		all := clusters(t, src)
		open := func() (*Column[float64], reader) {
			column := f.open(t, src.NewReadAhead())
			return column.(*opened[float64]).c, column
		}
		for _, test := range []struct {
			name  string
			spans []columnar.Span
			more  bool
			kept  int // pages
		}{
			{"few", []columnar.Span{{First: 5, N: 1}, {First: 900, N: 2}, {First: 8999, N: 1}}, false, 0},
			{"few of several pages", []columnar.Span{{First: 5, N: 1}, {First: 10000, N: 1}, {First: 19999,
				N: 1}}, false, 0},
			{"more to come", []columnar.Span{{First: 5, N: 1}, {First: 900, N: 2}}, true, 1},
			// 32 and 8 for each element are below 9000
			{"as many as are worth it", []columnar.Span{{First: 5, N: 1120}}, false, 0},
			{"one too many", []columnar.Span{{First: 5, N: 1121}}, false, 1},
			{"whole", []columnar.Span{{First: 0, N: 9000}}, false, 0},
		} {
			c, column := open()
			if err := column.spans(t.Context(), all[0], test.spans, test.more); err != nil {
				t.Fatal(err)
			}
			if n := len(c.recent); n != test.kept {
				t.Errorf("%s, %s: %d pages are kept, want %d", place.name, test.name, n, test.kept)
			}
			c.ahead.Stop()
			c.KeepPages()
			if err := column.spans(t.Context(), all[0], test.spans, test.more); err != nil {
				t.Fatal(err)
			}
			if n := len(c.recent); n == 0 && test.name != "whole" {
				t.Errorf("%s, %s: pages are not kept for others", place.name, test.name)
			}
			c.ahead.Stop()
		}
		// A page that is damaged is met by each way to read parts of it.
		m.data = flipped(u.file, clusters(t, src)[1].Columns()[0].Pages[1].Locator.Offset)
		if mapped, ok := r.(*mapped); ok {
			mapped.data = m.data
		}
		for name, read := range map[string]func(column reader) error{
			"spans": func(column reader) error {
				return column.spans(t.Context(), all[1], []columnar.Span{{First: 9001, N: 1}}, false)
			},
			"many spans": func(column reader) error {
				return column.spans(t.Context(), all[1], []columnar.Span{{First: 9001, N: 8000}}, false)
			},
			"part":  func(column reader) error { return column.read(t.Context(), all[1], 9001, 8000) },
			"whole": func(column reader) error { return column.read(t.Context(), all[1], 9000, 9000) },
			"next":  func(column reader) error { return column.next(t.Context(), all[1], 9001, 1) },
		} {
			_, column := open()
			err := column.spans(t.Context(), all[1], []columnar.Span{{First: 5, N: 1}, {First: 19000, N: 2}}, false)
			if err != nil {
				t.Errorf("%s, %s: the other pages: %v", place.name, name, err)
			}
			err = read(column)
			if !errors.Is(err, frame.ErrChecksum) || !strings.HasPrefix(err.Error(),
				`field "f", column 0, cluster 1, page 1: `) {
				t.Errorf("%s, %s: error %v", place.name, name, err)
			}
		}
	}
}
