package pagesource

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestNewSource has cluster groups that cover the entries, in any order, and such as do not.
func TestNewSource(t *testing.T) {
	type group struct{ first, span, bytes uint64 }
	for _, test := range []struct {
		name    string
		limit   int64 // for page lists
		groups  []group
		entries int64
		err     error
		want    string
	}{
		{"none", 0, nil, 0, nil, ""},
		{"in order", 0, []group{{0, 5, 1}, {5, 2, 1}}, 7, nil, ""},
		{"in another order", 0, []group{{5, 2, 1}, {7, 1, 1}, {0, 5, 1}}, 8, nil, ""},
		{"an empty one", 0, []group{{5, 2, 1}, {0, 5, 1}, {5, 0, 1}}, 7, nil, ""},
		{"gap at the start", 0, []group{{1, 5, 1}}, 0, frame.ErrCorrupt,
			"from 1 on, 5 of them; expected one from 0 on"},
		{"gap", 0, []group{{0, 5, 1}, {6, 5, 1}}, 0, frame.ErrCorrupt,
			"from 6 on, 5 of them; expected one from 5 on"},
		{"overlap", 0, []group{{0, 5, 1}, {4, 5, 1}}, 0, frame.ErrCorrupt,
			"from 4 on, 5 of them; expected one from 5 on"},
		{"all entries that there may be", 0, []group{{0, 5, 1}, {5, math.MaxInt64 - 5, 1}}, math.MaxInt64, nil, ""},
		{"too many entries", 0, []group{{0, 5, 1}, {5, math.MaxInt64 - 4, 1}}, 0, frame.ErrCorrupt, "from 5 on"},
		{"page lists within the limit", 30, []group{{0, 5, 10}, {5, 2, 20}}, 7, nil, ""},
		{"page lists beyond the limit", 30, []group{{0, 5, 11}, {5, 2, 20}}, 0, frame.ErrUnsupported,
			"page lists of at least 31 bytes, the limit is 30 (rntuple.Limits.EnvelopeBytes)"},
		{"no limit", 0, []group{{0, 5, 1 << 40}}, 5, nil, ""},
	} {
		f := &envelope.Footer{}
		for _, g := range test.groups {
			f.ClusterGroups = append(f.ClusterGroups, envelope.ClusterGroup{MinEntry: g.first,
				EntrySpan: g.span, NumClusters: 1,
				PageList: locator.Link{Length: g.bytes, Locator: locator.At(0, g.bytes)}})
		}
		src, err := NewSource(Blobs{MaxEnvelope: test.limit}, nil, 0, f)
		var fault *frame.FormatError
		switch {
		case test.err == nil && err != nil, test.err == nil && src.Entries != test.entries:
			t.Errorf("%s: %v, %v", test.name, src, err)
		case test.err != nil && (!errors.Is(err, test.err) || !errors.As(err, &fault) ||
			fault.Path != "footer.cluster groups" || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
	}
}

// numbers returns a tuple with one field, x, whose groups have clusters of so many entries, each
// with a page. The value of an entry is its number.
func numbers(t testing.TB, groups ...[]int) *tuple {
	t.Helper()
	u := newTuple(t, schemaOf(t, []*schema.FieldDocument{{Name: "x", Type: "std::int64_t"}}, 0))
	u.compression = 0
	u.write(groups...)
	return u
}

// write adds groups to numbers.
func (u *tuple) write(groups ...[]int) {
	u.t.Helper()
	for _, sizes := range groups {
		for _, n := range sizes {
			values := make([]int64, n)
			for i := range values {
				values[i] = int64(u.entries) + int64(i)
			}
			u.cluster(n, chunk(u, u.schema.Columns[0], values, max(1, n)))
		}
		u.group()
	}
}

// check reads the entries of numbers from first up to end.
func checkNumbers(t testing.TB, src *Source, first, end int64) {
	t.Helper()
	column, err := NewColumn[int64](src.NewReadAhead(), src.Schema.Fields[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	for ; first < end; first++ {
		c, err := src.Find(t.Context(), first)
		if err != nil {
			t.Fatal(err)
		}
		var got [1]int64
		if err := column.Read(t.Context(), c, first-c.First, got[:]); err != nil || got[0] != first {
			t.Fatalf("entry %d is %d: %v", first, got, err)
		}
	}
}

// TestFind finds the clusters of all entries. Groups and clusters are in any order; numbers of
// clusters are in that of footer and page lists. A page list is read when it is needed, once.
func TestFind(t *testing.T) {
	u := numbers(t, []int{3, 1}, []int{2}, []int{1, 0, 4, 2})
	slices.Reverse(u.groups) // the first group is that of the entries 6 to 12 now
	m := &memory{data: u.file}
	src := u.source(m)
	for _, test := range []struct {
		entry, first, end int64
		id, reads         int
	}{
		{12, 11, 13, 3, 1}, {6, 6, 7, 0, 1}, {7, 7, 11, 2, 1}, {10, 7, 11, 2, 1},
		{4, 4, 6, 4, 2}, {5, 4, 6, 4, 2},
		{0, 0, 3, 5, 3}, {2, 0, 3, 5, 3}, {3, 3, 4, 6, 3},
	} {
		c, err := src.Find(t.Context(), test.entry)
		if err != nil {
			t.Fatal(err)
		}
		if c.First != test.first || c.End != test.end || c.ID != test.id || len(m.reads) != test.reads {
			t.Errorf("entry %d: cluster %d from %d to %d with %d reads, want %d from %d to %d with %d",
				test.entry, c.ID, c.First, c.End, len(m.reads), test.id, test.first, test.end, test.reads)
		}
	}
	var ids []int
	for _, c := range clusters(t, src) {
		ids = append(ids, c.ID)
	}
	if want := []int{5, 6, 4, 0, 1, 2, 3}; !slices.Equal(ids, want) {
		t.Errorf("clusters %v, want %v", ids, want)
	}
	if len(m.reads) != 3 {
		t.Errorf("%d reads of 3 page lists", len(m.reads))
	}
}

// TestClustersFar reads several page lists of a file that is far away at a time, and one of a file
// at hand.
func TestClustersFar(t *testing.T) {
	u := numbers(t, []int{1}, []int{1}, []int{1}, []int{1}, []int{1})
	for _, far := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			asked, may := atomic.Int32{}, make(chan struct{})
			m := &memory{data: u.file, fault: func(int, int64, []byte) error { asked.Add(1); <-may; return nil }}
			var src *Source
			want := int32(1)
			if src = u.source(m); far {
				src.R = &farFile{memory: m, costs: remote.Costs{Requests: 3, Ranges: 1, Bytes: 1000}}
				want = 3
			}
			done := make(chan error)
			go func() { _, err := src.Clusters(context.Background()); done <- err }()
			synctest.Wait()
			if n := asked.Load(); n != want {
				t.Errorf("far %v: %d page lists are read at a time, want %d", far, n, want)
			}
			close(may)
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPageLists has page lists that contradict footer, header or schema.
func TestPageLists(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(l *envelope.PageList)
		kind error
		want string
	}{
		{"good", func(*envelope.PageList) {}, nil, ""},
		{"another order", func(l *envelope.PageList) {
			slices.Reverse(l.Clusters)
			slices.Reverse(l.Pages)
		}, nil, ""},
		{"another header", func(l *envelope.PageList) { l.HeaderChecksum++ }, frame.ErrCorrupt,
			"belongs to a header with the checksum 0x1235, this one has 0x1234"},
		{"a cluster too few", func(l *envelope.PageList) { l.Clusters, l.Pages = l.Clusters[:2], l.Pages[:2] },
			frame.ErrCorrupt,
			"2 cluster summaries and the pages of 2 clusters, expected 3"},
		{"sharded", func(l *envelope.PageList) { l.Clusters[1].Flags = envelope.ClusterSharded },
			frame.ErrUnsupported,
			"cluster 6 is sharded"},
		{"other flags", func(l *envelope.PageList) { l.Clusters[1].Flags = 2 }, nil, ""},
		{"too high", func(l *envelope.PageList) { l.Clusters[2].FirstEntry = math.MaxInt64 }, frame.ErrCorrupt,
			fmt.Sprintf("cluster 7 begins with the entry %d", int64(math.MaxInt64))},
		{"highest", func(l *envelope.PageList) { l.Clusters[2].FirstEntry = math.MaxInt64 - 2 },
			frame.ErrCorrupt, "expected 15"},
		{"columns", func(l *envelope.PageList) {
			l.Pages[1].Columns = append(l.Pages[1].Columns, envelope.ColumnPages{})
		}, frame.ErrCorrupt, "cluster 6 has 2 columns, the schema 1"},
		{"no columns", func(l *envelope.PageList) { l.Pages[1].Columns = nil }, nil, ""},
		{"gap", func(l *envelope.PageList) { l.Clusters[1].FirstEntry++ }, frame.ErrCorrupt,
			"cluster 6 begins with the entry 14, expected 13"},
		{"overlap", func(l *envelope.PageList) { l.Clusters[1].FirstEntry-- }, frame.ErrCorrupt,
			"cluster 6 begins with the entry 12, expected 13"},
		{"gap at the start", func(l *envelope.PageList) { l.Clusters[0].FirstEntry++ }, frame.ErrCorrupt,
			"cluster 5 begins with the entry 11, expected 10"},
		{"ends early", func(l *envelope.PageList) { l.Clusters[2].NumEntries-- }, frame.ErrCorrupt,
			"the clusters end before the entry 16, expected 17"},
		{"ends late", func(l *envelope.PageList) { l.Clusters[2].NumEntries++ }, frame.ErrCorrupt,
			"the clusters end before the entry 18, expected 17"},
	} {
		u := numbers(t, []int{2, 2, 2, 2, 2}, []int{3, 2, 2})
		b, err := u.blobs(&memory{data: u.file}).plain(t, u.groups[1].PageList)
		if err != nil {
			t.Fatal(err)
		}
		list, err := envelope.ParsePageList(b)
		if err != nil {
			t.Fatal(err)
		}
		test.edit(list)
		link := u.envelope(list.Append)
		u.groups[1].PageList = link
		src := u.source(&memory{data: u.file})
		cluster, err := src.Find(t.Context(), 10)
		if _, good := src.Find(t.Context(), 9); good != nil {
			t.Errorf("%s: the first group: %v", test.name, good)
		}
		checked := CheckPageList(u.schema, headerChecksum, u.groups[1], 5, list)
		if test.kind == nil {
			if err != nil || checked != nil || cluster.First != 10 || cluster.End != 13 {
				t.Errorf("%s: %+v, %v, %v", test.name, cluster, err, checked)
			}
			continue
		}
		var fault *frame.FormatError
		if !errors.As(err, &fault) || fault.Path != "page list of the clusters from 5 on" ||
			fault.Offset != int64(link.Locator.Offset) ||
			!errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
		if !errors.Is(checked, test.kind) || !strings.Contains(checked.Error(), test.want) {
			t.Errorf("%s: CheckPageList returns %v, want %s", test.name, checked, test.want)
		}
	}
}

func (b Blobs) plain(t testing.TB, link locator.Link) ([]byte, error) {
	return b.Envelope(t.Context(), "envelope", link)
}

// TestPageListFaults reads page lists that are damaged, or cannot be read: errors say which ones,
// and the next attempt begins anew.
func TestPageListFaults(t *testing.T) {
	u := numbers(t, []int{2, 2}, []int{3})
	at := int64(u.groups[1].PageList.Locator.Offset)
	broken := errors.New("broken")
	var damage func(b []byte) error
	m := &memory{data: u.file, fault: func(_ int, offset int64, b []byte) error {
		if offset == at && damage != nil {
			return damage(b)
		}
		return nil
	}}
	src := u.source(m)
	for _, test := range []struct {
		damage func(b []byte) error
		kind   error
	}{
		{func([]byte) error { return broken }, broken},
		{func(b []byte) error { b[len(b)-1] ^= 1; return nil }, frame.ErrChecksum},
		{func(b []byte) error { b[0] = 9; return nil }, frame.ErrCorrupt},
	} {
		damage = test.damage
		_, err := src.Find(t.Context(), 5)
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), "page list of the clusters from 2 on: ") {
			t.Errorf("error %v, want %v", err, test.kind)
		}
		if all, err := src.Clusters(t.Context()); !errors.Is(err, test.kind) || all != nil {
			t.Errorf("%d clusters, error %v, want %v", len(all), err, test.kind)
		}
	}
	damage = nil
	m.forget()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := src.Find(done, 5); !errors.Is(err, context.Canceled) || len(m.reads) > 0 {
		t.Errorf("after %d reads: %v", len(m.reads), err)
	}
	checkNumbers(t, src, 0, 7)
}

// TestParsePageList has a source with page lists of another format.
func TestParsePageList(t *testing.T) {
	u := numbers(t, []int{2, 2}, []int{3})
	slices.Reverse(u.groups)
	src := u.source(&memory{data: u.file})
	var asked []int
	src.ParsePageList = func(group int, b []byte) (*envelope.PageList, error) {
		asked = append(asked, group)
		if len(asked) == 1 {
			return nil, frame.Unsupported("not yet")
		}
		return envelope.ParsePageList(b)
	}
	if _, err := src.Find(t.Context(), 0); !errors.Is(err, frame.ErrUnsupported) ||
		!strings.Contains(err.Error(), "page list of the clusters from 1 on: ") {
		t.Error(err)
	}
	checkNumbers(t, src, 0, 7)
	if want := []int{1, 1, 0}; !slices.Equal(asked, want) {
		t.Errorf("groups %v were parsed, want %v", asked, want)
	}
}

// TestExpectList has page lists read in the background, once, unless somebody is reading them.
func TestExpectList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := numbers(t, []int{2, 2}, []int{3})
		may := make(chan struct{})
		m := &memory{data: u.file}
		src := u.source(m)
		src.expect(t.Context(), 7) // there is none
		src.expect(t.Context(), 4)
		synctest.Wait()
		if len(m.reads) != 1 {
			t.Errorf("%d reads", len(m.reads))
		}
		src.expect(t.Context(), 6)
		synctest.Wait()
		checkNumbers(t, src, 4, 7)
		if n := m.count(u.groups[1].PageList.Locator.Offset); n != 1 {
			t.Errorf("the page list was read %d times", n)
		}
		m.fault = func(int, int64, []byte) error { <-may; return nil }
		src.expect(t.Context(), 3)
		synctest.Wait()
		src.expect(t.Context(), 0) // must not wait
		close(may)
		checkNumbers(t, src, 0, 4)
		if n := m.count(u.groups[0].PageList.Locator.Offset); n != 1 {
			t.Errorf("the page list was read %d times", n)
		}
	})
}
