package pagesource

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An inOrder reads all columns of a sheet in order of the entries, as a view does.
type inOrder struct {
	a       *ReadAhead
	src     *Source
	columns []reader
	probes  []probe
	begun   func(entry int64) // called before a batch is read; may be nil
}

func (u *sheet) inOrder(t testing.TB, src *Source) *inOrder {
	t.Helper()
	o := &inOrder{a: src.NewReadAhead(), src: src, probes: u.probes}
	for _, p := range u.probes {
		o.columns = append(o.columns, p.open(t, o.a))
	}
	return o
}

// run reads batches of at most n entries, from first up to end. The k-th batch of elements is read
// in one of several ways.
func (o *inOrder) run(ctx context.Context, first, end int64, n int64) error {
	for first < end {
		c, err := o.src.Find(ctx, first)
		if err != nil {
			return err
		}
		next := min(end, c.End, first+n)
		if n < end {
			o.a.Advance(ctx, c, first, end)
		} else { // batches are whole clusters
			o.a.Fetch(ctx, c, first, end)
		}
		if o.begun != nil {
			o.begun(first)
		}
		for i, column := range o.columns {
			// The elements of the batch, in proportion: collections need not be looked at for that.
			have, entries := o.probes[i].len(c.ID), c.End-c.First
			begin, behind := (first-c.First)*have/entries, (next-c.First)*have/entries
			how := column.read
			switch i % 3 {
			case 1:
				how = column.next
			case 2:
				how = func(ctx context.Context, c *Cluster, first, n int64) error {
					return column.spans(ctx, c, []columnar.Span{{First: first, N: n}}, true)
				}
			}
			if err := how(ctx, c, begin, behind-begin); err != nil {
				return err
			}
		}
		first = next
	}
	return nil
}

// pages calls f for all pages of a sheet that are not those of another column, too.
func (u *sheet) pages(t testing.TB, src *Source, f func(c *Cluster, id, page int, p envelope.Page)) {
	t.Helper()
	for _, c := range clusters(t, src) {
		seen := map[uint64]bool{}
		for id, column := range c.Columns() {
			for i, p := range column.Pages {
				if !seen[p.Locator.Offset] {
					f(c, id, i, p)
				}
				seen[p.Locator.Offset] = true
			}
		}
	}
}

// TestReadInOrder reads everything in order, in batches of several sizes, twice. No page may be
// read more than once by then, unless columns share it and nothing is read ahead.
func TestReadInOrder(t *testing.T) {
	const whole = 100 // entries are more than there are
	settings(t, func(t *testing.T, s setting, u *sheet, src *Source, m *memory) {
		for _, n := range []int64{1, 4, whole} {
			clusters(t, src)
			o := u.inOrder(t, src)
			o.begun = func(int64) {
				o.a.mu.Lock()
				defer o.a.mu.Unlock()
				if most := max(o.a.budget, 40*8); o.a.used > most {
					t.Errorf("%d bytes are decoded, the budget is %d", o.a.used, o.a.budget)
				}
			}
			for range 2 {
				m.forget()
				if err := o.run(t.Context(), 0, src.Entries, n); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				u.pages(t, src, func(c *Cluster, id, page int, p envelope.Page) {
					want, least := 1, 1
					if src.mapped(int64(p.Locator.Offset), int64(p.StoredSize())) != nil {
						want, least = 0, 0
					} else if c.sharesBytes(p) {
						least = 0 // the source keeps it
						if s.budget < 1<<20 || o.a.fetch == nil || n == whole && !src.Far() {
							want = 2
						}
					}
					if n := m.count(p.Locator.Offset); n > want || n < least {
						t.Errorf("page %d of column %d in cluster %d was read %d times, want %d", page, id,
							c.ID, n, want)
					}
				})
				o.a.Stop()
			}
			o.check(t)
		}
	})
}

// TestNothingAhead announces that no entries will be read: nothing is fetched for that.
func TestNothingAhead(t *testing.T) {
	settings(t, func(t *testing.T, _ setting, u *sheet, src *Source, m *memory) {
		for _, c := range clusters(t, src) {
			m.forget()
			o := u.inOrder(t, src)
			o.a.Fetch(t.Context(), c, c.First, c.First)
			synctest.Wait()
			u.pages(t, src, func(_ *Cluster, id, page int, p envelope.Page) {
				if n := m.count(p.Locator.Offset); n > 0 {
					t.Errorf("page %d of column %d is read", page, id)
				}
			})
			o.a.Advance(t.Context(), c, c.First, c.First)
			o.a.Stop()
			o.check(t)
		}
	})
}

// TestNoElements reads entries without items ahead, for which there is a page without elements: it
// is not read.
func TestNoElements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newTuple(t, schemaOf(t, []*schema.FieldDocument{{Name: "v", Type: "std::vector<std::int64_t>"}}, 0))
		ends, items := u.schema.Columns[0], u.schema.Columns[1]
		empty := page[int64](u, items.Format(), nil)
		u.cluster(3, chunk(u, ends, []uint64{0, 0, 0}, 3), envelope.ColumnPages{Pages: []envelope.Page{empty}})
		u.group()
		m := &memory{data: u.file}
		src := u.source(m)
		c := clusters(t, src)[0]
		src.Workers, src.Budget = 2, 1<<20
		a := src.NewReadAhead()
		if _, err := NewColumn[int64](a, u.field("v._0"), 0); err != nil {
			t.Fatal(err)
		}
		m.forget()
		a.Advance(t.Context(), c, 0, 3)
		synctest.Wait()
		if n := len(m.reads); n > 0 {
			t.Errorf("%d reads", n)
		}
		a.Stop()
	})
}

// TestStopAndGoOn reads a cluster of a file that is far away page by page, stops, and reads it
// again: each time, one request fetches it.
func TestStopAndGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a, x, all := decades(t, 0)
		lending(t)
		f := &farFile{memory: m, costs: remote.Costs{Ranges: 100, Bytes: 1 << 20, Requests: 4}}
		a.src.R = f
		a.fetch = a.src.newFetch(1 << 20)
		for range 2 {
			f.requests = 0
			a.Fetch(t.Context(), all[0], 0, 120)
			for first := int64(0); first < 120; first += 10 {
				must(t, x.next(t.Context(), all[0], first, 10))
			}
			if f.requests != 1 {
				t.Errorf("%d requests", f.requests)
			}
			a.Stop()
		}
		synctest.Wait()
		a.fetch.empty(t)
	})
}

// check makes sure that nothing is planned or held any more after Stop. It is for bubbles.
func (o *inOrder) check(t testing.TB) {
	t.Helper()
	synctest.Wait()
	if o.a.used != 0 || o.a.running != 0 || len(o.a.tasks) > 0 {
		t.Errorf("%d bytes of the budget are in use, %d goroutines run, %d tasks wait", o.a.used, o.a.running,
			len(o.a.tasks))
	}
	if f := o.a.fetch; f != nil {
		f.empty(t)
	}
}

// empty makes sure that nothing is fetched.
func (f *fetch) empty(t testing.TB) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.blobs) > 0 || len(f.queue) > 0 || f.planned != 0 || f.held != 0 || f.running != 0 ||
		len(f.expected) > 0 {
		t.Errorf("%d blobs, %d requests in the queue, %d bytes planned, %d held, %d requests, %d blobs expected",
			len(f.blobs), len(f.queue), f.planned, f.held, f.running, len(f.expected))
	}
}

// A hookedFile calls a function when it is asked what requests cost, in the midst of planning.
type hookedFile struct {
	*farFile
	hook func()
}

func (f hookedFile) Costs() remote.Costs {
	f.hook()
	return f.costs
}

// TestPlanDecoded plans pages of which workers have decoded one and are decoding another, since
// it was seen that both are needed: neither is read twice. No worker begins during the planning.
func TestPlanDecoded(t *testing.T) {
	u := newSheet(t, true)
	synctest.Test(t, func(t *testing.T) {
		m := &memory{data: u.file}
		src := u.source(m)
		lending(t, src)
		all := clusters(t, src)
		f := &farFile{memory: m, costs: remote.Costs{Ranges: 4, Bytes: 1 << 10, Requests: 4}}
		var a *ReadAhead
		asked := false
		src.Budget, src.R = 1<<20, hookedFile{f, func() {
			if !asked && a.mu.TryLock() { // later it is asked for requests that have ended
				a.mu.Unlock()
				t.Error("a worker may begin with a page that is being planned")
			}
			asked = true
		}}
		a = src.NewReadAhead()
		c, err := NewColumn[int32](a, fieldOf(t, src.Schema, "i"), 0)
		must(t, err)
		pages := c.pages(all[1], 0, nil)
		if len(pages) != 3 {
			t.Fatalf("%d pages, want 3", len(pages))
		}
		m.forget()
		if !pages[0].run(t.Context()) {
			t.Error("the first page is not decoded")
		}
		inRead, may, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		m.fault = func(i int, _ int64, _ []byte) error {
			if i == 1 {
				close(inRead)
				<-may
			}
			return nil
		}
		go func() {
			defer close(done)
			pages[1].run(t.Context())
		}()
		<-inRead
		a.plan(t.Context(), slices.Clone(pages))
		close(may)
		<-done
		synctest.Wait()
		for i, p := range pages {
			if n := m.count(p.page.Locator.Offset); n != 1 {
				t.Errorf("page %d was read %d times, want 1", i, n)
			}
		}
		if !asked {
			t.Error("nothing was planned")
		}
		a.Stop()
		synctest.Wait()
		a.fetch.empty(t)
	})
}
