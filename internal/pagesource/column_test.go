package pagesource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

// A storage is where a file lies, and how.
type storage struct {
	name string
	file func(data []byte) (io.ReaderAt, *memory)
}

var places = []storage{
	{"at hand", func(data []byte) (io.ReaderAt, *memory) { m := &memory{data: data}; return m, m }},
	{"far", func(data []byte) (io.ReaderAt, *memory) {
		m := &memory{data: data}
		return &farFile{memory: m, costs: remote.Costs{Gap: 10, Ranges: 4, Bytes: 1 << 10, Requests: 3}}, m
	}},
	{"mapped", func(data []byte) (io.ReaderAt, *memory) {
		m := &memory{data: data}
		return &mapped{memory: m, bytes: int64(len(data))}, m
	}},
	{"mapped in part", func(data []byte) (io.ReaderAt, *memory) {
		m := &memory{data: data}
		return &mapped{memory: m, bytes: int64(len(data)) / 2}, m
	}},
}

// A setting is how a sheet is read.
type setting struct {
	place   storage
	zipped  bool
	workers int
	budget  int64
}

func (s setting) String() string {
	return fmt.Sprintf("%s,zipped=%v,workers=%d,budget=%d", s.place.name, s.zipped, s.workers, s.budget)
}

// settings calls f for all ways to read a sheet, each time in a bubble, and makes sure that all
// memory is given back.
func settings(t *testing.T, f func(t *testing.T, s setting, u *sheet, src *Source, m *memory)) {
	for _, zipped := range []bool{false, true} {
		u := newSheet(t, zipped)
		for _, p := range places {
			for _, workers := range []int{1, 3} {
				for _, budget := range []int64{0, 100, 1 << 20} {
					s := setting{p, zipped, workers, budget}
					t.Run(s.String(), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							r, m := p.file(u.file)
							src := u.source(r)
							src.Workers, src.Budget = workers, budget
							lending(t, src)
							f(t, s, u, src, m)
							synctest.Wait()
						})
					})
				}
			}
		}
	}
}

// TestReadRanges reads every range of every column in all ways, in an order in which no read
// continues another.
func TestReadRanges(t *testing.T) {
	settings(t, func(t *testing.T, s setting, u *sheet, src *Source, _ *memory) {
		a := src.NewReadAhead()
		var columns []reader
		for _, p := range u.probes {
			columns = append(columns, p.open(t, a))
		}
		for _, c := range clusters(t, src) {
			for i, column := range columns {
				n, err := column.length(c)
				if err != nil {
					t.Fatal(err)
				}
				if want := u.probes[i].len(c.ID); n != want {
					t.Fatalf("%v: %d elements in cluster %d, want %d", column, n, c.ID, want)
				}
				step := max(1, n/12) // all ranges of short columns
				for k := int64(0); k <= n; k += step {
					for first := n - k; first >= 0; first -= step {
						if err := errors.Join(
							column.read(t.Context(), c, first, k),
							column.part(t.Context(), c, first, k),
							column.next(t.Context(), c, first, k),
							column.spans(t.Context(), c, []columnar.Span{{First: first / 2, N: k / 2},
								{First: first, N: k}}, k%2 == 0),
						); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
		a.Stop()
		if a.used != 0 {
			t.Errorf("%d bytes of the budget are in use", a.used)
		}
	})
}

// TestReadOutside reads ranges that a column does not have.
func TestReadOutside(t *testing.T) {
	u := newSheet(t, true)
	src := u.source(&memory{data: u.file})
	for _, c := range clusters(t, src)[:2] {
		for _, p := range u.probes {
			n := p.len(c.ID)
			for _, s := range []columnar.Span{{First: -1, N: 1}, {First: 0, N: n + 1}, {First: n, N: 1},
				{First: n + 1, N: 0}, {First: 1, N: n}, {First: n / 2, N: n - n/2 + 1}} {
				column := p.open(t, src.NewReadAhead())
				for how, read := range map[string]func() error{
					"Read": func() error {
						return column.(interface {
							raw(*Cluster, columnar.Span) error
						}).raw(c, s)
					},
					"Next": func() error {
						return column.(interface {
							rawNext(*Cluster, columnar.Span) error
						}).rawNext(c, s)
					},
					"ReadSpans": func() error {
						return column.(interface {
							rawSpans(*Cluster, columnar.Span) error
						}).rawSpans(c, s)
					},
				} {
					var fault *frame.FormatError
					if err := read(); !errors.As(err, &fault) || !errors.Is(err, frame.ErrCorrupt) ||
						!strings.HasPrefix(fault.Path, fmt.Sprintf("page list.cluster %d.field ", c.ID)) {
						t.Errorf("%v: %s of %v gives %v", p, how, s, err)
					}
				}
			}
		}
	}
}

// TestEnterBroken reads a cluster whose page list is wrong, after another one, whose elements must
// not be taken for its own.
func TestEnterBroken(t *testing.T) {
	u := newSheet(t, true)
	src := u.source(&memory{data: u.file})
	good := clusters(t, src)[0]
	c, err := NewColumn[int32](src.NewReadAhead(), fieldOf(t, src.Schema, "i"), 0)
	must(t, err)
	ctx, dst := t.Context(), make([]int32, 1)
	broken := NewCluster(5, envelope.Cluster{NumEntries: 10}, []envelope.ColumnPages{suppressed, suppressed})
	for how, read := range map[string]func(*Cluster) error{
		"Len":       func(k *Cluster) error { _, err := c.Len(k); return err },
		"FirstPage": func(k *Cluster) error { _, _, err := c.FirstPage(k); return err },
		"Read":      func(k *Cluster) error { return c.Read(ctx, k, 0, dst) },
		"Next":      func(k *Cluster) error { _, err := c.Next(ctx, k, 0, 1); return err },
		"Part":      func(k *Cluster) error { _, err := c.Part(ctx, k, 0, 1); return err },
		"ReadSpans": func(k *Cluster) error { return c.ReadSpans(ctx, k, []columnar.Span{{N: 1}}, dst, false) },
	} {
		if err := read(good); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		if err := read(broken); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("%s of a cluster that is broken gives %v", how, err)
		}
	}
	if c.SamePages(c, broken) {
		t.Error("no pages are the same pages")
	}
	n, err := c.Len(good)
	must(t, err)
	for _, s := range []columnar.Span{{First: n, N: 0}, {First: n, N: 1}, {First: n - 1, N: 2}, {First: 0, N: n + 1}} {
		if got, err := c.Part(ctx, good, s.First, s.N); got != nil || err != nil {
			t.Errorf("Part of %v of %d elements gives %v, %v", s, n, got, err)
		}
	}
}

func (o *opened[T]) raw(c *Cluster, s columnar.Span) error {
	return o.c.Read(context.Background(), c, s.First, make([]T, s.N))
}

func (o *opened[T]) rawNext(c *Cluster, s columnar.Span) error {
	_, err := o.c.Next(context.Background(), c, s.First, s.N)
	return err
}

func (o *opened[T]) rawSpans(c *Cluster, s columnar.Span) error {
	return o.c.ReadSpans(context.Background(), c, []columnar.Span{s}, make([]T, s.N), false)
}
