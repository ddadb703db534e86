package pagesource

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// decades returns a tuple with a column of two clusters of 120 numbers, in pages of ten, and opens
// it.
func decades(t testing.TB, budget int64) (*memory, *ReadAhead, *opened[int64], []*Cluster) {
	t.Helper()
	u := newTuple(t, schemaOf(t, []*schema.FieldDocument{{Name: "x", Type: "std::int64_t"}}, 0))
	u.compression = 0
	x := &known[int64]{path: "x"}
	for k := range 2 {
		x.more()
		for i := range 120 {
			x.add(int64(1000*k + i))
		}
		u.cluster(120, x.store(u, k, 10))
		u.group()
	}
	m := &memory{data: u.file}
	src := u.source(m)
	all := clusters(t, src)
	src.Budget = budget
	m.forget()
	a := src.NewReadAhead()
	return m, a, x.open(t, a).(*opened[int64]), all
}

// must fails if a read does.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestRecent reads pages to and fro, of which as many are kept as the budget has room for, and in
// order, when none are.
func TestRecent(t *testing.T) {
	const page = 80 // bytes
	for _, test := range []struct {
		budget int64
		kept   int // beside the one in use
	}{{0, 0}, {page - 1, 0}, {page, 1}, {3 * page, 3}, {4*page - 1, 3}, {1000 * page, 23}} {
		m, a, x, all := decades(t, test.budget)
		lending(t)
		for i := range int64(24) { // no page follows another one
			k := i * 7 % 24
			must(t, x.next(t.Context(), all[k/12], k%12*10+3, 2))
			if want := min(int(i), test.kept); len(x.c.recent) != want+1 {
				t.Errorf("budget %d: %d pages are kept after %d, want %d", test.budget, len(x.c.recent)-1, i, want)
			}
		}
		m.forget()
		for i := int64(23); i >= 0; i-- { // those that were read last are kept
			k := i * 7 % 24
			must(t, x.next(t.Context(), all[k/12], k%12*10+5, 2))
			if read := len(m.reads) > 0; read != (23-i > int64(test.kept)) {
				t.Errorf("budget %d: page %d from the end is read: %v", test.budget, 23-i, read)
				break
			}
		}
		// in order, without the rest of a page if step is 15, and entries are chosen
		for _, step := range []int64{3, 5, 15} {
			a.Stop()
			if step == 15 {
				a.Choose(&list{})
			}
			for k := range all {
				for first := int64(0); first+step <= 120; first += step {
					must(t, x.next(t.Context(), all[k], first, min(step, 5)))
					if len(x.c.recent) != 1 {
						t.Fatalf("in order by %d: %d pages are kept", step, len(x.c.recent))
					}
				}
			}
		}
		a.Stop()
		a.Choose(nil)
		// Who leaves a cluster before its end does not read on in the next one.
		must(t, x.next(t.Context(), all[0], 55, 3))
		must(t, x.next(t.Context(), all[1], 0, 3))
		if want := 1 + min(1, test.kept); len(x.c.recent) != want {
			t.Errorf("budget %d: %d pages are kept of two clusters, want %d", test.budget, len(x.c.recent), want)
		}
		a.Stop()
		must(t, x.next(t.Context(), all[0], 115, 5))
		must(t, x.next(t.Context(), all[1], 0, 3))
		if len(x.c.recent) != 1 {
			t.Errorf("budget %d: %d pages are kept across clusters", test.budget, len(x.c.recent))
		}
		a.Stop()
		// Nor does one who comes from behind the start, or goes where there is nothing.
		must(t, x.next(t.Context(), all[0], 0, 3))
		must(t, x.next(t.Context(), all[0], 20, 3))
		must(t, x.next(t.Context(), all[0], 43, 3))
		if want := 1 + min(2, test.kept); len(x.c.recent) != want {
			t.Errorf("budget %d: %d pages are kept, want %d", test.budget, len(x.c.recent), want)
		}
		a.Stop()
	}
}

// TestDirect reads whole pages to where the reader wants them: none is kept.
func TestDirect(t *testing.T) {
	for _, test := range []struct {
		first, n int64
		kept     int
	}{{0, 10, 0}, {10, 20, 0}, {0, 120, 0}, {110, 10, 0}, {0, 9, 1}, {1, 9, 1}, {5, 15, 1}, {10, 11, 1}, {5,
		110, 1}} {
		lending(t)
		m, a, x, all := decades(t, 0)
		must(t, x.read(t.Context(), all[0], test.first, test.n))
		if len(x.c.recent) != test.kept {
			t.Errorf("%+v: %d pages are kept", test, len(x.c.recent))
		}
		if want := (test.first + test.n + 9) / 10; int64(len(m.reads)) != want-test.first/10 {
			t.Errorf("%+v: %d pages are read", test, len(m.reads))
		}
		a.Stop()
	}
}

// TestPrepared reads pages that were decoded ahead: their memory, and the budget, are free as soon
// as they have been read.
func TestPrepared(t *testing.T) {
	const page = 80
	for _, how := range []string{"read", "spans", "next", "part"} {
		synctest.Test(t, func(t *testing.T) {
			lending(t)
			_, a, x, all := decades(t, 10000)
			a.src.Workers = 3
			a.Advance(t.Context(), all[0], 0, 240)
			synctest.Wait()
			if a.used != 12*page {
				t.Errorf("%d bytes are decoded", a.used)
			}
			for i := range int64(12) {
				var err error
				switch how {
				case "read":
					err = x.read(t.Context(), all[0], 10*i, 10)
				case "spans":
					err = x.spans(t.Context(), all[0], []columnar.Span{{First: 10 * i, N: 10}}, false)
				case "next":
					err = x.next(t.Context(), all[0], 10*i, 10)
				case "part":
					err = x.part(t.Context(), all[0], 10*i, 10)
				}
				must(t, err)
				if want := (11 - i) * page; a.used != want {
					t.Errorf("%s: %d bytes are decoded after %d pages, want %d", how, a.used, i+1, want)
				}
			}
			a.Stop()
			synctest.Wait()
		})
	}
}

// TestLateTasks runs tasks for pages that the reader has read or left: they do nothing. Those of a
// context that is done do nothing either, and may run again.
func TestLateTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, x, all := decades(t, 10000)
		lending(t)
		a.src.Workers = 13 // more than there are pages to read at a time
		run := func(left int) {
			t.Helper()
			n := 0
			for _, task := range a.tasks {
				if task.run(t.Context()) {
					n++
					a.used += task.cost
				}
			}
			if n != left {
				t.Errorf("%d tasks do something, want %d", n, left)
			}
		}
		a.queue(t.Context(), all[0], 0)
		if len(a.tasks) != 12 {
			t.Fatalf("%d tasks", len(a.tasks))
		}
		for i, task := range a.tasks {
			if want := float64(i) / 12; task.at != want || task.cost != 80 {
				t.Errorf("task %d is at %v, and costs %d", i, task.at, task.cost)
			}
		}
		// two whole pages and a part
		must(t, x.read(t.Context(), all[0], 10, 25))
		must(t, x.spans(t.Context(), all[0], []columnar.Span{{First: 50, N: 10}}, false)) // a whole one
		must(t, x.next(t.Context(), all[0], 71, 1))                                       // a part
		must(t, x.next(t.Context(), all[1], 0, 1))                                        // leaves the cluster
		run(0)
		a.Stop()
		a.queue(t.Context(), all[0], 37)
		if len(a.tasks) != 9 || a.tasks[0].at != 0.25 {
			t.Errorf("%d tasks from entry 37 on", len(a.tasks))
		}
		must(t, x.next(t.Context(), all[0], 40, 1))
		a.tasks = a.tasks[:5]
		run(4)
		must(t, x.read(t.Context(), all[0], 0, 120))
		if a.used != 0 {
			t.Errorf("%d bytes are decoded", a.used)
		}
		a.Stop()
		a.queue(t.Context(), all[0], 30) // ends with a page
		if len(a.tasks) != 9 || a.tasks[0].at != 0.25 {
			t.Errorf("%d tasks from entry 30 on", len(a.tasks))
		}
		a.Stop()
		if len(a.tasks) != 0 {
			t.Errorf("%d tasks after Stop", len(a.tasks))
		}
		must(t, x.read(t.Context(), all[0], 0, 1))
		a.queue(t.Context(), all[1], 120)
		a.Choose(&list{{First: 130, N: 5}})
		if len(a.tasks) != 0 || len(x.c.coming) != 0 {
			t.Errorf("%d tasks for entries that are not chosen", len(a.tasks))
		}
		a.Stop()
	})
}

// TestLateTaskOfPart runs tasks for large pages of which the reader has read parts: few elements,
// or a long part.
func TestLateTaskOfPart(t *testing.T) {
	for _, zipped := range []bool{false, true} {
		u, f, _, _ := newLarge(t, zipped)
		lending(t)
		src := u.source(&memory{data: u.file})
		c := clusters(t, src)[0]
		a := src.NewReadAhead()
		x := f.open(t, a).(*opened[float64])
		a.queue(t.Context(), c, 0)
		must(t, x.spans(t.Context(), c, []columnar.Span{{First: 5, N: 3}, {First: 80, N: 1}}, false))
		must(t, x.read(t.Context(), c, 9001, minPart/8))
		for i, task := range a.tasks[:2] {
			if task.run(t.Context()) {
				t.Errorf("page %d, of which a part was read, is decoded", i)
			}
		}
		a.Stop()
	}
}

// TestTaskCancelled has the context of a task end while it reads: another context reads the page.
func TestTaskCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a, x, all := decades(t, 0) // without a fetch
		lending(t)
		asked := make(chan struct{})
		a.src.R = &farFile{memory: m, gate: func(ctx context.Context,
			_ []remote.Range) error {
			close(asked)
			<-ctx.Done()
			return ctx.Err()
		}}
		a.queue(t.Context(), all[0], 0)
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan bool)
		go func() { ran <- a.tasks[0].run(ctx) }()
		<-asked
		cancel()
		if <-ran {
			t.Error("the page is decoded")
		}
		a.src.R = m
		must(t, x.next(t.Context(), all[0], 0, 5))
		a.Stop()
	})
}

// TestBudget decodes ahead as much as the budget allows: one page at least.
func TestBudget(t *testing.T) {
	const page = 80
	for _, test := range []struct{ budget, used int64 }{{page, page}, {page - 1, page}, {2*page - 1, page},
		{2 * page, 2 * page}, {5*page + 79, 5 * page}} {
		synctest.Test(t, func(t *testing.T) {
			lending(t)
			m, a, x, all := decades(t, 0)
			a.budget, a.src.Workers = test.budget, 3 // without a fetch
			a.Advance(t.Context(), all[0], 0, 240)
			synctest.Wait()
			if a.used != test.used || a.running != 0 || int64(len(m.reads)) != test.used/page {
				t.Errorf("budget %d: %d bytes are decoded, want %d; %d goroutines run", test.budget, a.used,
					test.used, a.running)
			}
			for i := range int64(24) {
				must(t, x.next(t.Context(), all[i/12], i%12*10, 10))
				a.Advance(t.Context(), all[i/12], i*10+9, 240)
				synctest.Wait()
				if a.used > test.used {
					t.Errorf("budget %d: %d bytes are decoded", test.budget, a.used)
				}
			}
			if len(m.reads) != 24 {
				t.Errorf("budget %d: %d pages are read", test.budget, len(m.reads))
			}
			a.Stop()
			synctest.Wait()
			if a.used != 0 {
				t.Errorf("budget %d: %d bytes are decoded in the end", test.budget, a.used)
			}
		})
	}
	// Nothing is decoded ahead without columns, or another goroutine.
	for i := range 3 {
		synctest.Test(t, func(t *testing.T) {
			m, a, _, all := decades(t, 0)
			a.budget, a.src.Workers = 1000, 3
			switch i {
			case 0:
				a.budget = 0
			case 1:
				a.columns = nil
			case 2:
				a.src.Workers = 1
			}
			a.Advance(t.Context(), all[0], 0, 240)
			a.Fetch(t.Context(), all[0], 0, 240)
			synctest.Wait()
			if len(m.reads) > 0 || a.at != nil {
				t.Errorf("case %d: %d pages are read", i, len(m.reads))
			}
		})
	}
}

// TestOrder decodes the pages of several columns in the order in which entries need them.
func TestOrder(t *testing.T) {
	u := newEvents(t)
	src := u.source(&memory{data: u.file})
	all := clusters(t, src)
	a := src.NewReadAhead()
	for _, p := range u.probes {
		p.open(t, a)
	}
	a.queue(t.Context(), all[0], 0)
	if len(a.tasks) < 100 {
		t.Fatalf("%d tasks", len(a.tasks))
	}
	for i := range a.tasks[1:] {
		if a.tasks[i+1].at < a.tasks[i].at {
			t.Errorf("task %d is at %v, the next one at %v", i, a.tasks[i].at, a.tasks[i+1].at)
		}
	}
}

// TestBulk reads so many pages at a time that workers share them: then none is decoded ahead.
func TestBulk(t *testing.T) {
	_, a, x, all := decades(t, 10000)
	a.src.Workers = 3
	for _, test := range []struct {
		n     int64
		tasks int
	}{{20, 12}, {29, 12}, {30, 0}, {120, 0}, {5, 12}} {
		must(t, x.read(t.Context(), all[0], 0, test.n))
		tasks := 0
		for _, p := range x.c.pages(all[1], 0, nil) {
			if p.run != nil {
				tasks++
			}
		}
		if tasks != test.tasks {
			t.Errorf("%d elements: %d tasks, want %d", test.n, tasks, test.tasks)
		}
	}
	a.Stop()
}

// TestPlain reads parts of a large page: it is decompressed once, until the reader has passed its
// end.
func TestPlain(t *testing.T) {
	const part = minPart / 8
	for _, zipped := range []bool{false, true} {
		u, f, _, _ := newLarge(t, zipped)
		lending(t)
		m := &memory{data: u.file}
		src := u.source(m)
		all := clusters(t, src)
		a := src.NewReadAhead()
		x := f.open(t, a).(*opened[float64])
		size := int64(all[0].Columns()[0].Pages[0].NumElements)
		read := func(first, n int64, plain bool, reads int) {
			t.Helper()
			m.forget()
			must(t, x.read(t.Context(), all[0], first, n))
			if got := x.c.now.slots[0].plain != nil; got != plain || len(m.reads) != reads {
				t.Errorf("%d elements from %d on: plain %v, %d reads, want %v and %d", n, first, got,
					len(m.reads), plain, reads)
			}
		}
		read(0, part, true, 1)
		read(part, size-part, false, 0) // in order, up to the end
		read(size-part, part, true, 1)  // not in order
		read(0, part, true, 0)
		read(part, part-1, false, 0) // too few: all are decoded, from what is there
		read(0, part, false, 0)
		a.Stop()
	}
}

// TestPlainInPlace reads parts of a page that is mapped and not compressed: it is verified once.
func TestPlainInPlace(t *testing.T) {
	const part = minPart / 8
	u, f, _, _ := newLarge(t, false)
	m := &mapped{memory: &memory{data: u.file}, bytes: int64(len(u.file))}
	src := u.source(m)
	c := clusters(t, src)[0]
	p := c.Columns()[0].Pages[0]
	sum := p.Locator.Offset + p.Locator.Size
	x := f.open(t, src.NewReadAhead()).(*opened[float64])
	good := m.data
	m.data = flipped(good, sum)
	if err := x.read(t.Context(), c, 0, part); !errors.Is(err, frame.ErrChecksum) {
		t.Errorf("with a wrong checksum: %v", err)
	}
	m.data = good
	must(t, x.read(t.Context(), c, 0, part))
	m.data = flipped(good, sum)
	must(t, x.read(t.Context(), c, 1, part))
	if x.c.now.slots[0].plain != nil || len(m.reads) != 2 { // page lists
		t.Errorf("a page that is in memory was copied after %d reads", len(m.reads))
	}
	if x.c.now.slots[0].elements != nil {
		t.Error("a page was decoded as a whole")
	}
}

// TestLevels has columns in no, one and two collections, and offsets.
func TestLevels(t *testing.T) {
	u := newEvents(t)
	a := u.source(&memory{data: u.file}).NewReadAhead()
	if n := a.levels(); n != 0 {
		t.Errorf("%d levels of no columns", n)
	}
	want := map[string]int{"x.0": 0, "v.0": 0, "v._0.0": 1, "w.0": 0, "w._0.0": 1, "w._0._0.0": 2, "a._0.0": 0,
		"t.0": 0,
		"s.0": 0, "s.1": 1, "o.0": 0, "o._0._0.0": 1, "o._0._1.0": 1, "p._0.0": 0}
	for i, p := range u.probes {
		p.open(t, a)
		if got := a.columns[i].level(); got != want[p.String()] {
			t.Errorf("%v is on level %d, want %d", p, got, want[p.String()])
		}
	}
	if n := a.levels(); n != 2 {
		t.Errorf("%d levels", n)
	}
}

// TestAdvanceAway has a reader that goes elsewhere: what was planned and decoded of other clusters
// is given back.
func TestAdvanceAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newEvents(t)
		m := &memory{data: u.file}
		src := u.source(m)
		all := clusters(t, src)
		lending(t)
		src.R = &farFile{memory: m, costs: remote.Costs{Ranges: 100, Bytes: 1 << 20, Requests: 4}}
		src.Workers, src.Budget = 3, 1<<20
		a := src.NewReadAhead()
		x := u.probes[0].open(t, a)
		for _, entry := range []int64{0, 130, 7, 239, 0, 120, 119} {
			c, err := src.Find(t.Context(), entry)
			must(t, err)
			a.Advance(t.Context(), c, entry, src.Entries)
			must(t, x.next(t.Context(), c, entry-c.First, 1))
			synctest.Wait()
			if c == all[1] && a.inPlan(all[0]) != nil {
				t.Errorf("entry %d: a cluster that was left is planned", entry)
			}
		}
		a.Stop()
		synctest.Wait()
		if a.used != 0 {
			t.Errorf("%d bytes are decoded", a.used)
		}
		a.fetch.empty(t)
	})
}

// TestPlanOn has a reader that goes on in the cluster in which an earlier plan ended: then what it
// wants is what follows.
func TestPlanOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a, x, all := decades(t, 0)
		lending(t)
		f := &farFile{memory: m, costs: remote.Costs{Ranges: 100, Bytes: 1 << 20, Requests: 4}}
		a.src.R = f
		a.fetch = a.src.newFetch(1 << 20)
		for i, s := range []columnar.Span{{First: 0, N: 50}, {First: 20, N: 30}, {First: 50, N: 40},
			{First: 90, N: 30}, {First: 0, N: 20}} {
			a.Fetch(t.Context(), all[0], s.First, s.First+s.N)
			want := s
			if i == 1 {
				want = columnar.Span{First: 0, N: 50} // of which this is a part
			}
			if w := a.wanted(t.Context(), all[0]); len(w.entries) != 1 || w.entries[0] != want {
				t.Errorf("%v: entries %v are wanted", s, w.entries)
			}
			must(t, x.read(t.Context(), all[0], s.First, s.N))
		}
		a.Stop()
		synctest.Wait()
		a.fetch.empty(t)
	})
}

// TestFetchOn reads one part of a cluster after the other: each takes no more requests than it
// takes alone.
func TestFetchOn(t *testing.T) {
	u := newEvents(t)
	for _, n := range []int64{3, 30, 45} {
		synctest.Test(t, func(t *testing.T) {
			f := &farFile{memory: &memory{data: u.file}, costs: remote.Costs{Ranges: 1000, Bytes: 1 << 20,
				Requests: 4}}
			src := u.source(f.memory)
			all := clusters(t, src)
			src.R, src.Budget = f, 1<<20
			open := func() (a *ReadAhead, columns []reader) {
				a = src.NewReadAhead()
				for _, p := range u.probes {
					columns = append(columns, p.open(t, a))
				}
				return a, columns
			}
			read := func(a *ReadAhead, columns []reader, s columnar.Span) int {
				f.requests = 0
				a.Fetch(t.Context(), all[0], s.First, s.First+s.N)
				must(t, u.read(t.Context(), columns, all[0], s))
				return f.requests
			}
			a, columns := open()
			for first := int64(0); first+n <= eventsPerCluster; first += n {
				alone, others := open()
				most := read(alone, others, columnar.Span{First: first, N: n})
				alone.Stop()
				if got := read(a, columns, columnar.Span{First: first, N: n}); got > most {
					t.Errorf("%d entries from %d on: %d requests, alone %d", n, first, got, most)
				}
			}
			a.Stop()
			synctest.Wait()
			a.fetch.empty(t)
		})
	}
}
