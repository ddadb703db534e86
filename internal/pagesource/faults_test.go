package pagesource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/schema"
)

// names returns how errors name a page of a column.
func (u *sheet) names(c *Cluster, id, page int) []string {
	var names []string
	for _, col := range u.schema.Columns {
		own := c.Columns()
		// that of another column, too
		if col.ID < schema.ColumnID(len(own)) && slices.Equal(own[col.ID].Pages, own[id].Pages) {
			names = append(names, fmt.Sprintf("field %q, column %d, cluster %d, page %d: ", col.Owner.Path(),
				col.ID, c.ID, page))
		}
	}
	return names
}

// TestWrongChecksum damages each page in turn: the error of who reads all says which one it is.
// Whoever reads on without that page gets what it should.
func TestWrongChecksum(t *testing.T) {
	settings(t, func(t *testing.T, s setting, u *sheet, src *Source, m *memory) {
		if s.place.name == "mapped in part" || s.budget == 100 {
			return
		}
		i := 0
		u.pages(t, src, func(c *Cluster, id, page int, p envelope.Page) {
			if i++; i%5 != s.workers { // each page is damaged in some of the settings
				return
			}
			last := p.Locator.Offset + p.Locator.Size - 1
			good := u.file[last]
			data := flipped(u.file, last)
			bad := u.source(src.R)
			bad.Workers, bad.Budget = src.Workers, src.Budget
			m.data = data
			defer func() { m.data = u.file }()
			o := u.inOrder(t, bad)
			err := o.run(t.Context(), 0, bad.Entries, 3)
			o.a.Stop()
			o.check(t)
			named := slices.ContainsFunc(u.names(c, id, page), func(name string) bool {
				return err != nil && strings.HasPrefix(err.Error(), name)
			})
			if !named {
				t.Errorf("error %v, want one of %q", err, u.names(c, id, page))
			}
			checkPageError(t, p, err, frame.ErrChecksum)
			data[last] = good
			if err := o.run(t.Context(), 0, bad.Entries, 3); err != nil {
				t.Errorf("after the page has become good: %v", err)
			}
			o.a.Stop()
			o.check(t)
		})
	})
}

// TestReadFails has one read after the other fail, or be too short. The reader gets that error,
// unless the page could be read alone, and all values when the file can be read again.
func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	settings(t, func(t *testing.T, s setting, u *sheet, src *Source, m *memory) {
		if s.place.name == "mapped" || s.budget == 100 {
			return
		}
		clusters(t, src)
		m.forget()
		o := u.inOrder(t, src)
		if err := o.run(t.Context(), 0, src.Entries, 3); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		total := len(m.reads)
		o.a.Stop()
		for i := s.workers; i < total; i += 5 {
			src.shared = sharedPages{}
			m.forget()
			m.fault = func(k int, _ int64, b []byte) error {
				if k == i {
					clear(b) // what a reader must not use
					return broken
				}
				return nil
			}
			err := o.run(t.Context(), 0, src.Entries, 3)
			again := o.a.fetch != nil && !src.Far()
			if !errors.Is(err, broken) && !(again && err == nil) || err != nil &&
				!strings.Contains(err.Error(), "field ") {
				t.Errorf("read %d of %d: error %v", i, total, err)
			}
			o.a.Stop()
			o.check(t) // that nobody reads any more
			m.fault = nil
			if err := o.run(t.Context(), 0, src.Entries, 3); err != nil {
				t.Errorf("after read %d of %d failed: %v", i, total, err)
			}
			o.a.Stop()
			o.check(t)
		}
	})
}

// TestCancel cancels a reader whose k-th request does not return: it ends at once, and so do all
// goroutines. Another context reads on.
func TestCancel(t *testing.T) {
	u := newSheet(t, true)
	for _, workers := range []int{1, 3} {
		for _, budget := range []int64{0, 200, 1 << 20} {
			for k := 0; k < 12; k++ {
				synctest.Test(t, func(t *testing.T) {
					lending(t)
					block, n := true, 0
					stopped := make(chan struct{}) // closed when the first request waits
					f := &farFile{memory: &memory{data: u.file}, costs: remote.Costs{Ranges: 2,
						Bytes: 64 << 10, Requests: 2}}
					src := u.source(f.memory)
					clusters(t, src)
					src.R, src.Workers, src.Budget = f, workers, budget
					f.gate = func(ctx context.Context, _ []remote.Range) error {
						f.mu.Lock()
						n++
						stop := block && n > k
						if stop && n == k+1 {
							close(stopped)
						}
						f.mu.Unlock()
						if stop {
							<-ctx.Done()
							return ctx.Err()
						}
						return nil
					}
					o := u.inOrder(t, src)
					ctx, cancel := context.WithCancel(t.Context())
					done := make(chan error)
					go func() { done <- o.run(ctx, 0, src.Entries, 4) }()
					select {
					case err := <-done:
						if err != nil || n > k {
							t.Errorf("workers %d, budget %d: after %d requests: %v", workers, budget, n, err)
						}
						cancel()
					case <-stopped:
						cancel() // a reader that goes on waits for ever
						if err := <-done; !errors.Is(err, context.Canceled) {
							t.Errorf("workers %d, budget %d: %v", workers, budget, err)
						}
					}
					if err := o.run(ctx, 0, src.Entries, 4); !errors.Is(err, context.Canceled) {
						t.Errorf("workers %d, budget %d: with a context that is done: %v", workers, budget, err)
					}
					f.mu.Lock()
					block = false
					f.mu.Unlock()
					if k%2 == 0 {
						o.a.Stop()
					}
					if err := o.run(t.Context(), 0, src.Entries, 4); err != nil {
						t.Errorf("workers %d, budget %d: with another context: %v", workers, budget, err)
					}
					o.a.Stop()
					o.check(t)
				})
			}
		}
	}
}

// TestStop stops a reader while requests are under way: they end, although its context goes on.
func TestStop(t *testing.T) {
	u := newSheet(t, true)
	for _, workers := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			lending(t)
			f := &farFile{memory: &memory{data: u.file}, costs: remote.Costs{Ranges: 1, Bytes: 1 << 10, Requests: 4}}
			src := u.source(f.memory)
			all := clusters(t, src)
			src.R, src.Workers, src.Budget = f, workers, 1<<20
			f.gate = func(ctx context.Context, _ []remote.Range) error { <-ctx.Done(); return ctx.Err() }
			o := u.inOrder(t, src)
			o.a.Advance(t.Context(), all[0], 0, src.Entries)
			synctest.Wait()
			if f.running == 0 || f.running > 4 {
				t.Errorf("%d requests are under way", f.running)
			}
			o.a.Stop()
			synctest.Wait()
			if f.running != 0 {
				t.Errorf("%d requests are under way", f.running)
			}
			o.check(t)
			f.gate = nil
			if err := o.run(t.Context(), 0, src.Entries, 4); err != nil {
				t.Error(err)
			}
			o.a.Stop()
			o.check(t)
		})
	}
}

// TestTooLarge has pages whose elements need more memory than the page, of which a byte has eight
// bools, as bools and as integers.
func TestTooLarge(t *testing.T) {
	u := newTuple(t, schemaOf(t, []*schema.FieldDocument{{Name: "b", Type: "bool"}}, 0))
	u.compression = 0
	u.cluster(800, chunk(u, u.schema.Columns[0], make([]bool, 800), 800))
	u.group()
	src := u.source(&memory{data: u.file})
	c := clusters(t, src)[0]
	bools, err := NewColumn[bool](src.NewReadAhead(), src.Schema.Fields[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	integers, err := NewColumn[int64](src.NewReadAhead(), src.Schema.Fields[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	asBool := func() error { _, err := bools.Next(t.Context(), c, 5, 1); return err }
	asInteger := func() error { _, err := integers.Next(t.Context(), c, 5, 1); return err }
	for _, test := range []struct {
		max  int64
		next func() error
		want string
	}{
		{800, asBool, ""},
		{799, asBool, "page of at least 800 bytes, the limit is 799 (rntuple.Limits.PageBytes)"},
		{99, asBool, "page of at least 100 bytes, the limit is 99 (rntuple.Limits.PageBytes)"},
		{6400, asInteger, ""},
		{6399, asInteger, "page of at least 6400 bytes, the limit is 6399 (rntuple.Limits.PageBytes)"},
	} {
		src.MaxPage = test.max
		bools.ahead.Stop()
		integers.ahead.Stop()
		err := test.next()
		if test.want == "" && err != nil {
			t.Errorf("limit %d: %v", test.max, err)
		} else if test.want != "" && (!errors.Is(err, frame.ErrUnsupported) ||
			!strings.Contains(err.Error(), test.want) ||
			!strings.HasPrefix(err.Error(), `field "b", column 0, cluster 0, page 0: `)) {
			t.Errorf("limit %d: %v, want %s", test.max, err, test.want)
		}
	}
}
