package pagesource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A slowFile has one request under way at a time, of one piece, and answers when it is told to.
type slowFile struct {
	asked chan []remote.Range
	may   chan struct{}
}

func (f slowFile) Costs() remote.Costs {
	return remote.Costs{Ranges: 1, Bytes: 1 << 20, Requests: 1}
}

func (f slowFile) ReadAt(p []byte, _ int64) (int, error) { return len(p), nil }

func (f slowFile) ReadRanges(_ context.Context, ranges []remote.Range) error {
	f.asked <- ranges
	<-f.may
	return nil
}

// TestDropBeforeRequest drops pages whose request waits for another one: it must not have more
// ranges than Costs says, and pages at its ends are not read.
func TestDropBeforeRequest(t *testing.T) {
	const n = 100 // bytes of a page
	for _, test := range []struct{ drop, want []int }{
		{nil, []int{1, 2, 3, 4, 5}},
		{[]int{1, 2}, []int{3, 4, 5}},
		{[]int{5}, []int{1, 2, 3, 4}},
		{[]int{3}, []int{1, 2, 3, 4, 5}},
		{[]int{2, 4, 1}, []int{3, 4, 5}},
		{[]int{3, 1, 5, 4}, []int{2}},
		{[]int{2, 3, 4, 5, 1}, nil},
	} {
		file := slowFile{make(chan []remote.Range), make(chan struct{})}
		blobs := &Blobs{R: file, Size: 1 << 20, MaxPage: 1 << 20}
		f := blobs.newFetch(1 << 20)
		plan := func(pages ...int) []*blob {
			var all []storedPage
			for _, p := range pages {
				page := envelope.Page{NumElements: n, Locator: locator.At(uint64(p*n), n)}
				all = append(all, storedPage{column.Format{Type: column.Byte, Bits: 8}, page})
			}
			return f.plan(t.Context(), all)
		}
		first := plan(1000)
		<-file.asked
		planned := plan(1, 2, 3, 4, 5)
		for _, p := range test.drop {
			f.drop(planned[p-1])
			planned[p-1] = nil
		}
		file.may <- struct{}{}
		var got []int
		if test.want != nil {
			for _, r := range <-file.asked {
				got = append(got, int(r.Offset/n))
			}
			file.may <- struct{}{}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("without %d: pages %d are read, want %d", test.drop, got, test.want)
		}
		for _, b := range append(planned, first...) {
			if b != nil {
				<-b.request.done
				f.drop(b)
			}
		}
		f.mu.Lock()
		if len(f.blobs) > 0 || len(f.queue) > 0 || f.planned != 0 || f.held != 0 {
			t.Errorf("without %d: %d blobs, %d requests, %d bytes planned, %d held in the end", test.drop,
				len(f.blobs), len(f.queue), f.planned, f.held)
		}
		f.mu.Unlock()
	}
}

var byteFormat = column.Format{Type: column.Byte, Bits: 8}

// bytesAt returns a page of n bytes at an offset, without a checksum.
func bytesAt(offset, n int) envelope.Page {
	return envelope.Page{NumElements: uint32(n), Locator: locator.At(uint64(offset), uint64(n))}
}

// stored returns pages of bytes.
func stored(pages ...envelope.Page) (all []storedPage) {
	for _, p := range pages {
		all = append(all, storedPage{byteFormat, p})
	}
	return all
}

// counting returns a file in which each byte tells its offset.
func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8)
	}
	return b
}

// TestPlanPages plans pages, of which some are read when they are needed: those that the file
// cannot hold, that are spread over keys, or that lie where a page of another size does. Pages that
// overlap have requests of their own.
func TestPlanPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lending(t)
		f := &farFile{memory: &memory{data: counting(10000)}, costs: remote.Costs{Ranges: 100, Bytes: 1 << 20,
			Requests: 9}}
		b := &Blobs{R: f, Size: 10000, MaxPage: 2000, MaxKeySize: 1500}
		ahead := b.newFetch(1 << 20)
		pages := stored(bytesAt(0, 100), bytesAt(100, 10), bytesAt(0, 100), bytesAt(0, 99), bytesAt(0, 101),
			bytesAt(300, 0), bytesAt(400, 1501),
			bytesAt(400, 2001), bytesAt(8000, 1001), bytesAt(20000, 1), bytesAt(2000, 100), bytesAt(2050, 100),
			bytesAt(2150, 100))
		planned := ahead.plan(t.Context(), pages)
		var got []int
		for i, p := range planned {
			if p != nil {
				got = append(got, i)
			}
		}
		if want := []int{0, 1, 2, 8, 10, 11, 12}; !slices.Equal(got, want) {
			t.Errorf("planned are %d, want %d", got, want)
		}
		if planned[0] != planned[2] || ahead.ahead() != 100+10+1001+300 {
			t.Errorf("%d bytes are planned", ahead.ahead())
		}
		synctest.Wait()
		if f.requests != 2 || f.memory.count(2060) != 2 {
			t.Errorf("%d requests", f.requests)
		}
		for i, p := range pages {
			if n := int64(p.page.NumElements); planned[i] != nil && n < 1001 {
				ok, err := ahead.use(t.Context(), p.page, n, func(b []byte) error {
					if at := int(p.page.Locator.Offset); !bytes.Equal(b, f.data[at:][:n]) {
						t.Errorf("page %d is wrong", i)
					}
					return nil
				})
				if !ok || err != nil {
					t.Errorf("page %d: %v, %v", i, ok, err)
				}
			}
			ahead.drop(planned[i])
		}
		synctest.Wait()
		ahead.empty(t)
	})
}

// TestFetchBudget plans more than the budget has room for, and more requests than should be under
// way.
func TestFetchBudget(t *testing.T) {
	const size, n = 50 << 10, 20
	for _, test := range []struct {
		requests int
		budget   int64
		bytes    int64 // for a request
		most     int   // requests
		per      int   // pages of a request
	}{
		{10, 6 * size, 2 * size, 3, 2},
		{10, 6*size - 1, 2 * size, 2, 2},
		{2, 100 * size, 2 * size, 2, 2},
		{0, 100 * size, 2 * size, 1, 2},
		{10, size, 2 * size, 1, 1}, // one must be allowed
		{10, 100 * size, 1, 10, 1}, // requests have 64 KiB at least
		{10, 8 * size, 100 * size, 2, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			lending(t)
			may := make(chan struct{})
			f := &farFile{memory: &memory{data: counting(n * size)}, costs: remote.Costs{Ranges: 1,
				Bytes: test.bytes, Requests: test.requests}}
			f.gate = func(ctx context.Context, _ []remote.Range) error { <-may; return nil }
			b := &Blobs{R: f, Size: n * size, MaxPage: size}
			ahead := b.newFetch(test.budget)
			var pages []storedPage
			for i := range n {
				pages = append(pages, stored(bytesAt(i*size, size))...)
			}
			planned := ahead.plan(t.Context(), pages)
			synctest.Wait()
			if f.running != test.most || f.underway != test.most*test.per*size {
				t.Errorf("%+v: %d requests with %d bytes", test, f.running, f.underway)
			}
			if ahead.arrived(pages[n-1:]) || !ahead.arrived(nil) {
				t.Errorf("%+v: the last page has arrived", test)
			}
			if test.most < n/test.per { // a page that is needed at once does not wait
				go ahead.use(t.Context(), pages[n-1].page, size, func([]byte) error { return nil })
				synctest.Wait()
				if f.running != test.most+1 {
					t.Errorf("%+v: %d requests when one is needed at once", test, f.running)
				}
			}
			close(may)
			for i, p := range pages {
				synctest.Wait()
				ahead.mu.Lock()
				if ahead.held > max(test.budget, int64(test.per*size))+int64(test.per*size) {
					t.Errorf("%+v: %d bytes are held", test, ahead.held)
				}
				ahead.mu.Unlock()
				if ok, err := ahead.use(t.Context(), p.page, size, func(b []byte) error { return nil }); !ok ||
					err != nil {
					t.Errorf("%+v: page %d: %v, %v", test, i, ok, err)
				}
				if !ahead.arrived(pages[i : i+1]) {
					t.Errorf("%+v: page %d has not arrived", test, i)
				}
				ahead.drop(planned[i])
				synctest.Wait()
				ahead.mu.Lock()
				if q := ahead.queue; len(q) > 0 && (ahead.held == 0 || ahead.held+q[0].bytes() <= test.budget) {
					t.Errorf("%+v: %d requests wait after page %d, though there is room", test, len(q), i)
				}
				ahead.mu.Unlock()
			}
			ahead.empty(t)
			if f.requests != n/test.per {
				t.Errorf("%+v: %d requests", test, f.requests)
			}
		})
	}
}

// TestFetchUse waits for pages whose requests fail, or are not made.
func TestFetchUse(t *testing.T) {
	broken := errors.New("broken")
	good := func([]byte) error { return nil }
	for _, isFar := range []bool{false, true} {
		for _, fault := range []error{nil, broken, context.Canceled, fmt.Errorf("late: %w",
			context.DeadlineExceeded)} {
			synctest.Test(t, func(t *testing.T) {
				lending(t)
				m := &memory{data: counting(1000), fault: func(int, int64, []byte) error { return fault }}
				b := &Blobs{R: m, Size: 1000, MaxPage: 1000}
				if isFar {
					b.R = &farFile{memory: m, costs: remote.Costs{Ranges: 1, Bytes: 1000, Requests: 1}}
				}
				ahead := b.newFetch(1000)
				planned := ahead.plan(t.Context(), stored(bytesAt(10, 20), bytesAt(40, 20)))
				for i, p := range []envelope.Page{bytesAt(10, 20), bytesAt(40, 20), bytesAt(10, 21),
					bytesAt(10, 19), bytesAt(11, 20)} {
					ok, err := ahead.use(t.Context(), p, int64(p.NumElements), good)
					wantOK, want := i < 2 && fault == nil, error(nil)
					if i < 2 && fault == broken && isFar {
						wantOK, want = true, broken
					}
					if ok != wantOK || !errors.Is(err, want) {
						t.Errorf("far %v, fault %v: page %d: %v, %v", isFar, fault, i, ok, err)
					}
				}
				if fault == nil {
					if ok, err := ahead.use(t.Context(), bytesAt(10, 20), 20,
						func([]byte) error { return broken }); !ok || err != broken {
						t.Errorf("%v, %v", ok, err)
					}
				}
				for _, b := range planned {
					ahead.drop(b)
				}
				synctest.Wait()
				ahead.empty(t)
			})
		}
	}
	var none *fetch
	if ok, err := none.use(t.Context(), bytesAt(0, 1), 1, good); ok || err != nil ||
		none.plan(t.Context(), stored(bytesAt(0, 1)))[0] != nil {
		t.Error("nothing fetches pages")
	}
	b := &Blobs{R: &memory{}}
	if b.newFetch(0) != nil || b.newFetch(1) == nil {
		t.Error("a budget of 0 is one")
	}
	b.R = &mapped{memory: &memory{}}
	if b.newFetch(1) != nil {
		t.Error("a mapped file is fetched")
	}
}

// TestFetchNear fetches the pages of a file at hand, with what lies between them, by one read.
func TestFetchNear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lending(t)
		m := &memory{data: counting(10000)}
		b := &Blobs{R: m, Size: 10000, MaxPage: 10000}
		ahead := b.newFetch(1 << 20)
		pages := stored(bytesAt(5, 1000), bytesAt(1006, 500), bytesAt(4000, 70))
		planned := ahead.plan(t.Context(), pages)
		synctest.Wait()
		if len(m.reads) != 2 || m.reads[0].Offset != 5 && m.reads[1].Offset != 5 {
			t.Errorf("%d reads", len(m.reads))
		}
		for i, p := range pages {
			at, n := p.page.Locator.Offset, p.page.Locator.Size
			ok, err := ahead.use(t.Context(), p.page, int64(n), func(b []byte) error {
				if !bytes.Equal(b, m.data[at:][:n]) {
					t.Errorf("page %d is wrong", i)
				}
				return nil
			})
			if !ok || err != nil {
				t.Errorf("page %d: %v, %v", i, ok, err)
			}
			ahead.drop(planned[i])
		}
		synctest.Wait()
		ahead.empty(t)
	})
}

// TestRequestSize plans more pages of 1 KiB than a request may have: as many bytes as the costs
// say, at most half of the budget, and at least 64 KiB.
func TestRequestSize(t *testing.T) {
	const size = 1 << 10
	for _, test := range []struct{ bytes, budget, want int64 }{
		{100 * size, 1000 * size, 100 * size},
		{500 * size, 400 * size, 200 * size},
		{10 * size, 1000 * size, 64 * size},
		{500 * size, 10 * size, 64 * size},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &farFile{memory: &memory{data: counting(300 * size)}, costs: remote.Costs{Ranges: 1,
				Bytes: test.bytes, Requests: 1}}
			b := &Blobs{R: f, Size: int64(len(f.data)), MaxPage: size}
			fetch := b.newFetch(test.budget)
			var pages []envelope.Page
			for i := range 300 {
				pages = append(pages, bytesAt(i*size, size))
			}
			planned := fetch.plan(t.Context(), stored(pages...))
			synctest.Wait()
			if int64(f.largest) != test.want {
				t.Errorf("costs of %d bytes, budget %d: a request of %d bytes, want %d", test.bytes, test.budget,
					f.largest, test.want)
			}
			for _, p := range planned {
				fetch.drop(p)
			}
			synctest.Wait()
			fetch.empty(t)
		})
	}
}

// TestExpect reads pages that were expected by the ways that there are, and more of the file than
// they are.
func TestExpect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lending(t)
		m := &memory{data: counting(10000)}
		f := &farFile{memory: m, costs: remote.Costs{Ranges: 100, Bytes: 1 << 20, Requests: 4}}
		b := &Blobs{R: f, Size: 10000, MaxPage: 10000}
		pages := map[column.Format]envelope.Page{}
		b.Expect(t.Context(), maps.All(pages)) // nothing, without ExpectWithin
		b.ExpectWithin(1 << 20)
		expect := func(pages ...envelope.Page) {
			b.Expect(t.Context(), func(yield func(column.Format, envelope.Page) bool) {
				for _, p := range pages {
					if !yield(byteFormat, p) {
						return
					}
				}
			})
		}
		one, two, three := bytesAt(100, 50), bytesAt(200, 50), bytesAt(400, 100)
		expect(one, two, one, three)
		expect(two)
		synctest.Wait()
		if f.requests != 1 {
			t.Errorf("%d requests", f.requests)
		}
		got := make([]byte, 50)
		if err := b.StoredPage(t.Context(), byteFormat, two, got); err != nil || !bytes.Equal(got, m.data[200:250]) {
			t.Error(err)
		}
		if err := b.Page(t.Context(), byteFormat, one, func(got []byte) error {
			if !bytes.Equal(got, m.data[100:150]) {
				t.Error("the page is wrong")
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if f.requests != 1 {
			t.Errorf("%d requests", f.requests)
		}
		// Those that have been read are read anew, and what is around others.
		expect(two)
		synctest.Wait()
		got = make([]byte, 450)
		if n, err := b.Exactly(t.Context()).ReadAt(got, 150); n != 450 || err != nil ||
			!bytes.Equal(got, m.data[150:600]) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if f.requests != 5 || m.count(200) != 2 || m.count(400) != 1 || m.count(150) != 1 ||
			m.count(399) != 1 || m.count(500) != 1 {
			t.Errorf("%d requests, page two was read %d times", f.requests, m.count(200))
		}
		b.ahead.empty(t)
		// A page that is wanted in part only is not taken.
		expect(three)
		synctest.Wait()
		got = make([]byte, 99)
		if n, err := b.Exactly(t.Context()).ReadAt(got, 400); n != 99 || err != nil ||
			!bytes.Equal(got, m.data[400:499]) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if m.count(400) != 3 {
			t.Errorf("page three was read %d times", m.count(400))
		}
		b.ahead.empty(t)
		others := b.ahead.plan(t.Context(), stored(three)) // that others need, too
		if n, err := b.Exactly(t.Context()).ReadAt(got, 400); n != 99 || err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
		b.ahead.drop(others[0])
		synctest.Wait()
		b.ahead.empty(t)
		f.gate = func(context.Context, []remote.Range) error { return io.ErrUnexpectedEOF }
		expect(one)
		if n, err := b.Exactly(t.Context()).ReadAt(got, 98); n != 0 || err != io.ErrUnexpectedEOF {
			t.Errorf("%d bytes: %v", n, err)
		}
		f.gate = func(_ context.Context, r []remote.Range) error {
			if r[0].Offset == 100 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if n, err := b.Exactly(t.Context()).ReadAt(got, 98); n != 2 || err != io.ErrUnexpectedEOF {
			t.Errorf("%d bytes: %v", n, err)
		}
		synctest.Wait()
		b.ahead.empty(t)

		near := &Blobs{R: m}
		if near.ExpectWithin(1000); near.ahead != nil {
			t.Error("a file at hand is fetched")
		}
	})
}

// TestHand gives what was fetched for a column to who copies pages as they are stored.
func TestHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := numbers(t, []int{3, 4})
		m := &memory{data: u.file}
		src := u.source(m)
		all := clusters(t, src)
		lending(t)
		f := &farFile{memory: m, costs: remote.Costs{Ranges: 100, Bytes: 1 << 20, Requests: 4}}
		src.R, src.Budget = f, 1<<20
		a := src.NewReadAhead()
		src.ExpectWith(a)
		c, err := NewColumn[int64](a, src.Schema.Fields[0], 0)
		if err != nil {
			t.Fatal(err)
		}
		a.Fetch(t.Context(), all[0], 0, 7)
		synctest.Wait()
		f.requests = 0
		for _, cluster := range all {
			if _, err := c.Len(cluster); err != nil {
				t.Fatal(err)
			}
			for i, p := range cluster.Columns()[0].Pages {
				c.Hand(i)
				stored := make([]byte, p.StoredSize())
				if err := src.StoredPage(t.Context(), int64s, p, stored); err != nil ||
					!bytes.Equal(stored, u.file[p.Locator.Offset:][:len(stored)]) {
					t.Error(err)
				}
			}
		}
		if f.requests != 0 {
			t.Errorf("%d requests", f.requests)
		}
		a.Stop()
		synctest.Wait()
		a.fetch.empty(t)
		if err := c.Corrupt(all[1], "%d bad ones", 3); !errors.Is(err, frame.ErrCorrupt) ||
			err.Error() != `page list.cluster 1.field "x" at offset 0x0: corrupt data: 3 bad ones` {
			t.Error(err)
		}
		near := u.source(m)
		if near.ExpectWith(a); near.ahead != nil {
			t.Error("a file at hand is fetched")
		}
	})
}

// TestReach reads large clusters of a file that is far away: the longer, the further ahead, within
// the budget. Of a file at hand, one cluster more than the one that is read.
func TestReach(t *testing.T) {
	const size, n = 512 << 10, 28 // of a cluster in bytes, of which each entry takes one, and clusters
	u := newTuple(t, schemaOf(t, []*schema.FieldDocument{{Name: "b", Type: "std::byte"}}, 0))
	u.compression = 0
	data := counting(size)
	for range n {
		u.cluster(size, chunk(u, u.schema.Columns[0], data, size))
		u.group()
	}
	for _, test := range []struct {
		name   string
		far    bool
		budget int64 // of the fetch
		bytes  int64 // of a request
		want   []int // clusters that are planned, when so many more have been read
	}{
		{"far", true, 1 << 30, size, []int{8, 16, 26, 25, 24}}, // 4 MiB, then twice, up to the end
		{"large requests", true, 1 << 30, 64 << 20, []int{16, 27, 26, 25}},
		{"requests of some size", true, 1 << 30, 10 * size, []int{10, 20, 26, 25}},
		{"small budget", true, 10 * size, size, []int{8, 7, 6, 5, 10, 9, 8, 7, 6, 5, 10}},
		{"at hand", false, 1 << 30, size, []int{2, 2, 2}},
	} {
		synctest.Test(t, func(t *testing.T) {
			lending(t)
			m := &memory{data: u.file}
			src := u.source(m)
			src.MaxPage = size
			if src.Budget = 2 * test.budget; test.far {
				src.R = &farFile{memory: m, costs: remote.Costs{Ranges: 1, Bytes: test.bytes, Requests: 4}}
			}
			a := src.NewReadAhead()
			c, err := NewColumn[uint8](a, src.Schema.Fields[0], 0)
			if err != nil {
				t.Fatal(err)
			}
			got, dst := []int{}, make([]byte, size)
			for k := int64(0); k < n; k++ {
				cluster, err := src.Find(t.Context(), k*size)
				if err != nil {
					t.Fatal(err)
				}
				if test.far {
					a.Fetch(t.Context(), cluster, k*size, src.Entries)
				} else {
					a.extend(t.Context(), cluster, k*size, src.Entries)
				}
				got = append(got, int(a.fetch.ahead()/size))
				if a.fetch.ahead() > test.budget+n*8 { // with checksums
					t.Errorf("%s: %d bytes are planned, the budget is %d", test.name, a.fetch.ahead(), test.budget)
				}
				if err := c.Read(t.Context(), cluster, 0, dst); err != nil || !bytes.Equal(dst, data) {
					t.Fatal(err)
				}
			}
			if !slices.Equal(got[:len(test.want)], test.want) {
				t.Errorf("%s: %d clusters are planned, want %d", test.name, got, test.want)
			}
			for _, cluster := range clusters(t, src) {
				for _, p := range cluster.Columns()[0].Pages {
					if k := m.count(p.Locator.Offset); k != 1 {
						t.Errorf("%s: the page of cluster %d was read %d times", test.name, cluster.ID, k)
					}
				}
			}
			for i, g := range u.groups {
				// at hand, those between pages are read with them
				if k := m.count(g.PageList.Locator.Offset); k != 1 && test.far {
					t.Errorf("%s: page list %d was read %d times", test.name, i, k)
				}
			}
			a.Stop()
			synctest.Wait()
			a.fetch.empty(t)
		})
	}
}
