package pagesource

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestList compares a list of spans with one flag for each entry.
func TestList(t *testing.T) {
	rnd := sampletest.Rand(t)
	for range 200 {
		var wanted [40]bool
		var l list
		for e := int64(rnd.IntN(4)); e < 30; e += int64(rnd.IntN(4)) { // neighbours may touch
			n := 1 + int64(rnd.IntN(5))
			l = append(l, columnar.Span{First: e, N: n})
			for i := range n {
				wanted[e+i] = true
			}
			e += n
		}
		for first := range int64(40) {
			next, ok := l.Next(first)
			want := first
			for want < 40 && !wanted[want] {
				want++
			}
			if ok != (want < 40) || ok && next != want {
				t.Fatalf("%v: %d, %v follows %d, want %d", l, next, ok, first, want)
			}
			for end := first; end <= 40; end++ {
				var got [40]bool
				for _, s := range l.Spans(first, end) {
					if s.N <= 0 || s.First < first || s.First+s.N > end {
						t.Fatalf("%v from %d to %d: %v", l, first, end, s)
					}
					for i := range s.N {
						got[s.First+i] = true
					}
				}
				for e := range int64(40) {
					if got[e] != (wanted[e] && first <= e && e < end) {
						t.Fatalf("%v from %d to %d: %v", l, first, end, l.Spans(first, end))
					}
				}
			}
		}
	}
}

// TestScale multiplies spans as far as numbers of elements go.
func TestScale(t *testing.T) {
	for _, test := range []struct {
		spans []columnar.Span
		n     uint64
		want  []columnar.Span
		ok    bool
	}{
		{[]columnar.Span{{First: 2, N: 3}, {First: 9, N: 1}}, 5, []columnar.Span{{First: 10, N: 15},
			{First: 45, N: 5}}, true},
		{[]columnar.Span{{First: 2, N: 3}}, 0, []columnar.Span{{First: 0, N: 0}}, true},
		{[]columnar.Span{{First: 1, N: 1}}, math.MaxInt64 / 2, []columnar.Span{{First: math.MaxInt64 / 2,
			N: math.MaxInt64 / 2}}, true},
		{[]columnar.Span{{First: 1, N: 1}}, math.MaxInt64/2 + 1, nil, false},
		{[]columnar.Span{{First: 0, N: 1}}, math.MaxInt64, []columnar.Span{{First: 0, N: math.MaxInt64}}, true},
		{[]columnar.Span{{First: 0, N: 1}}, math.MaxInt64 + 1, nil, false},
	} {
		if got, ok := scale(test.spans, test.n); ok != test.ok || !slices.Equal(got, test.want) {
			t.Errorf("%v times %d: %v, %v, want %v", test.spans, test.n, got, ok, test.want)
		}
	}
}

// TestNear joins entries between which few are unwanted, and counts them from the start of their
// cluster.
func TestNear(t *testing.T) {
	type spans = []columnar.Span
	a := &ReadAhead{src: &Source{}}
	c := &Cluster{First: 100, End: 300}
	for _, test := range []struct{ spans, want spans }{
		{nil, nil},
		{spans{{First: 100, N: 2}}, spans{{First: 0, N: 2}}},
		{spans{{First: 100, N: 2}, {First: 102, N: 5}}, spans{{First: 0, N: 7}}},
		{spans{{First: 110, N: 2}, {First: 112 + nearEntries, N: 5}, {First: 200, N: 1}},
			spans{{First: 10, N: nearEntries + 7}, {First: 100, N: 1}}},
		{spans{{First: 110, N: 2}, {First: 113 + nearEntries, N: 5}},
			spans{{First: 10, N: 2}, {First: 13 + nearEntries, N: 5}}},
	} {
		if got := a.wantedOf(c, test.spans).entries; !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.spans, got, test.want)
		}
	}
}

// Events are a sheet of two clusters, whose pages have ten elements, so that few entries need few
// of them.
type events struct {
	*sheet
	starts map[probe][][]int64 // elements before an entry, by cluster and entry
}

const eventsPerCluster = 120

func newEvents(t testing.TB) *events {
	t.Helper()
	u := &events{sheet: &sheet{tuple: newTuple(t, schemaOf(t, []*schema.FieldDocument{
		{Name: "x", Type: "std::int64_t"},
		{Name: "v", Type: "std::vector<std::int16_t>"},
		{Name: "w", Type: "std::vector<std::vector<float>>"},
		{Name: "a", Type: "std::array<std::int32_t,3>"},
		{Name: "t", Type: "std::bitset<7>"},
		{Name: "s", Type: "std::string"},
		{Name: "o", Type: "std::optional<std::pair<std::int8_t,double>>"},
		{Name: "p", Type: "std::atomic<std::int16_t>"},
	}, 0))}, starts: map[probe][][]int64{}}
	u.compression = 0
	x := probeOf[int64](u.sheet, "x", 0)
	v := probeOf[uint64](u.sheet, "v", 0)
	vItems := probeOf[int16](u.sheet, "v._0", 0)
	w := probeOf[uint64](u.sheet, "w", 0)
	ww := probeOf[uint64](u.sheet, "w._0", 0)
	wItems := probeOf[float32](u.sheet, "w._0._0", 0)
	a := probeOf[int32](u.sheet, "a._0", 0)
	bits := probeOf[bool](u.sheet, "t", 0)
	s := probeOf[uint64](u.sheet, "s", 0)
	chars := probeOf[uint8](u.sheet, "s", 1)
	o := probeOf[uint64](u.sheet, "o", 0)
	first := probeOf[int8](u.sheet, "o._0._0", 0)
	second := probeOf[float64](u.sheet, "o._0._1", 0)
	p := probeOf[int16](u.sheet, "p._0", 0)
	for k := range 2 {
		for _, p := range u.probes {
			p.more()
			u.starts[p] = append(u.starts[p], nil)
		}
		for i := range eventsPerCluster {
			for _, p := range u.probes {
				u.starts[p][k] = append(u.starts[p][k], p.len(k))
			}
			e := k*eventsPerCluster + i
			x.add(int64(e))
			for j := range e % 4 {
				vItems.add(int16(e*10 + j))
			}
			v.add(uint64(len(vItems.last())))
			for j := range e % 3 {
				for range j + 1 {
					wItems.add(float32(e))
				}
				ww.add(uint64(len(wItems.last())))
			}
			w.add(uint64(len(ww.last())))
			a.add(int32(e), int32(e+1), int32(e+2))
			for j := range 7 {
				bits.add(e>>j&1 != 0)
			}
			chars.add([]byte("abcdef")[:e%7]...)
			s.add(uint64(len(chars.last())))
			if e%3 != 0 {
				first.add(int8(e % 100))
				second.add(float64(e))
			}
			o.add(uint64(len(first.last())))
			p.add(int16(-e))
		}
		columns := make([]envelope.ColumnPages, len(u.schema.Columns))
		for _, p := range u.probes {
			u.starts[p][k] = append(u.starts[p][k], p.len(k))
			p.put(u.tuple, k, 10, columns)
		}
		u.cluster(eventsPerCluster, columns...)
		u.group()
	}
	return u
}

// elements returns which elements a column needs for entries of a cluster: of offsets, that in
// front of them, too.
func (u *events) elements(p probe, cluster int, entries columnar.Span) columnar.Span {
	starts := u.starts[p][cluster]
	first, end := starts[entries.First], starts[entries.First+entries.N]
	if offsets, ok := p.(*known[uint64]); ok && end > first && first > 0 && offsets.index == 0 {
		first--
	}
	return columnar.Span{First: first, N: end - first}
}

// near joins spans that are not worth telling apart.
func near(spans []columnar.Span) (joined []columnar.Span) {
	for _, s := range spans {
		if n := len(joined); n > 0 && s.First-(joined[n-1].First+joined[n-1].N) <= 16 {
			joined[n-1].N = s.First + s.N - joined[n-1].First
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// inCluster returns the parts of spans in a cluster, counted from its start.
func inCluster(spans []columnar.Span, cluster int) (all []columnar.Span) {
	begin := int64(cluster) * eventsPerCluster
	for _, s := range spans {
		first, end := max(s.First, begin), min(s.First+s.N, begin+eventsPerCluster)
		if first < end {
			all = append(all, columnar.Span{First: first - begin, N: end - first})
		}
	}
	return all
}

// checkReads makes sure that of the pages of all columns those are read, once, that spans of
// entries need, and no others but those between near entries.
func (u *events) checkReads(t *testing.T, how string, src *Source, m *memory, spans []columnar.Span) {
	t.Helper()
	for _, c := range clusters(t, src) {
		entries := inCluster(spans, c.ID)
		for _, p := range u.probes {
			chunk, err := p.chunk(u.tuple, c)
			if err != nil {
				t.Fatal(err)
			}
			holds := func(spans []columnar.Span, first, end int64) bool {
				return slices.ContainsFunc(spans, func(s columnar.Span) bool {
					e := u.elements(p, c.ID, s)
					return e.N > 0 && e.First < end && first < e.First+e.N
				})
			}
			end := int64(0)
			for i, page := range chunk.Pages {
				first := end
				end += int64(page.NumElements)
				n := m.count(page.Locator.Offset)
				most := 1
				if len(spans) == 1 && !slices.ContainsFunc(entries,
					func(s columnar.Span) bool { return u.starts[p][c.ID][s.First] < end }) {
					most = 2 // of entries that are not chosen, who looks for items reads offsets in front, too
				}
				if n > most || n == 0 && holds(entries, first, end) || n > 0 && !holds(near(entries), first, end) {
					t.Errorf("%s %v: page %d of %v in cluster %d was read %d times", how, spans, i, p, c.ID, n)
				}
			}
		}
	}
}

// read reads entries by all columns.
func (u *events) read(ctx context.Context, columns []reader, c *Cluster, entries columnar.Span) error {
	for i, p := range u.probes {
		e := u.elements(p, c.ID, columnar.Span{First: entries.First - c.First, N: entries.N})
		if err := columns[i].read(ctx, c, e.First, e.N); err != nil {
			return err
		}
	}
	return nil
}

// choices are entries that are wanted.
var choices = [][]columnar.Span{
	{{First: 5, N: 1}},
	{{First: 5, N: 1}, {First: 60, N: 1}},
	{{First: 0, N: 1}, {First: 100, N: 20}},
	{{First: 3, N: 4}, {First: 23, N: 1}, {First: 41, N: 1}}, // near, and just not near
	{{First: 119, N: 2}},
	{{First: 30, N: 2}, {First: 130, N: 1}, {First: 239, N: 1}},
	{{First: 130, N: 30}},
	{{First: 0, N: 240}},
	{{First: 10, N: 1}, {First: 27, N: 1}, {First: 28, N: 1}, {First: 46, N: 1}, {First: 200, N: 3}},
}

// TestChoose reads chosen entries in order, of which the others must not be read.
func TestChoose(t *testing.T) {
	u := newEvents(t)
	for _, workers := range []int{1, 3} {
		for i := range choices {
			for _, isFar := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					m := &memory{data: u.file}
					src := u.source(m)
					if isFar {
						src.R = &farFile{memory: m, costs: remote.Costs{Ranges: 1000, Bytes: 1 << 20, Requests: 4}}
					}
					src.Workers, src.Budget = workers, 1<<20
					lending(t, src)
					clusters(t, src)
					m.forget()
					a := src.NewReadAhead()
					var columns []reader
					for _, p := range u.probes {
						columns = append(columns, p.open(t, a))
					}
					chosen := list(choices[i])
					a.Choose(&chosen)
					a.Choose(&chosen)
					for _, s := range choices[i] {
						for first := s.First; first < s.First+s.N; {
							c, err := src.Find(t.Context(), first)
							if err != nil {
								t.Fatal(err)
							}
							a.Advance(t.Context(), c, first, src.Entries)
							n := min(s.First+s.N-first, c.End-first, 3)
							if err := u.read(t.Context(), columns, c, columnar.Span{First: first, N: n}); err != nil {
								t.Fatal(err)
							}
							first += n
						}
					}
					synctest.Wait()
					if isFar {
						u.checkReads(t, fmt.Sprintf("%d workers", workers), src, m, choices[i])
					}
					a.Choose(nil)
					a.Stop()
					synctest.Wait()
					if a.used != 0 {
						t.Errorf("%d bytes of the budget are in use", a.used)
					}
					a.fetch.empty(t)
				})
			}
		}
	}
}

// TestFetchSpans reads spans of entries of a file that is far away with a request for each level of
// collections.
func TestFetchSpans(t *testing.T) {
	u := newEvents(t)
	for _, spans := range choices {
		synctest.Test(t, func(t *testing.T) {
			m := &memory{data: u.file}
			src := u.source(m)
			f := &farFile{memory: m, costs: remote.Costs{Ranges: 1000, Bytes: 1 << 20, Requests: 4}}
			src.R, src.Budget = f, 1<<20
			lending(t, src)
			clusters(t, src)
			m.forget()
			f.requests = 0
			a := src.NewReadAhead()
			var columns []reader
			for _, p := range u.probes {
				columns = append(columns, p.open(t, a))
			}
			done := a.FetchSpans(t.Context(), spans)
			for _, s := range spans {
				for first := s.First; first < s.First+s.N; {
					c, err := src.Find(t.Context(), first)
					if err != nil {
						t.Fatal(err)
					}
					n := min(s.First+s.N, c.End) - first
					a.Fetch(t.Context(), c, first, first+n)
					if err := u.read(t.Context(), columns, c, columnar.Span{First: first, N: n}); err != nil {
						t.Fatal(err)
					}
					first += n
				}
			}
			done()
			if a.chosen != nil {
				t.Error("entries are chosen still")
			}
			u.checkReads(t, "spans", src, m, spans)
			last := spans[len(spans)-1]
			most := 3 * (1 + int((last.First+last.N-1)/eventsPerCluster))
			for k := range 2 {
				for _, s := range inCluster(spans, k) {
					for _, p := range u.probes {
						if e := u.elements(p, k, s); u.starts[p][k][s.First] > e.First &&
							u.starts[p][k][s.First]%10 == 0 {
							most += 2 // a page that only the offset in front of a span needs
						}
					}
				}
			}
			if f.requests > most {
				t.Errorf("%v: %d requests, want at most %d", spans, f.requests, most)
			}
			a.Stop()
			synctest.Wait()
			a.fetch.empty(t)
		})
	}
	// It does nothing where that is of no use.
	src := u.source(&memory{data: u.file})
	src.Budget = 1 << 20
	a := src.NewReadAhead()
	done := a.FetchSpans(t.Context(), choices[1])
	if a.chosen != nil {
		t.Error("entries of a file at hand are chosen")
	}
	done()
	src.R = &farFile{memory: &memory{data: u.file}, costs: remote.Costs{Ranges: 1, Bytes: 1, Requests: 1}}
	a = src.NewReadAhead()
	a.FetchSpans(t.Context(), choices[0])
	if a.chosen != nil {
		t.Error("entries of a single span are chosen")
	}
	mine := list(choices[2])
	a.Choose(&mine)
	a.FetchSpans(t.Context(), choices[1])()
	if a.chosen != Chosen(&mine) {
		t.Error("other entries were chosen")
	}
	src.Budget = 0
	a = src.NewReadAhead()
	if a.FetchSpans(t.Context(), choices[1])(); a.chosen != nil {
		t.Error("entries are chosen without a budget")
	}
}
