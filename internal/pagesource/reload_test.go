package pagesource

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// regrouped returns a state of numbers, written later, in which groups have so many clusters each;
// clusters have further columns, up to the number of those of s. The page lists of the state before
// are overwritten.
func (u *tuple) regrouped(s *schema.Schema, counts ...int) *tuple {
	u.t.Helper()
	var all envelope.PageList
	for _, g := range u.groups {
		b, err := u.blobs(&memory{data: u.file}).plain(u.t, g.PageList)
		if err != nil {
			u.t.Fatal(err)
		}
		list, err := envelope.ParsePageList(b)
		if err != nil {
			u.t.Fatal(err)
		}
		all.Clusters = append(all.Clusters, list.Clusters...)
		all.Pages = append(all.Pages, list.Pages...)
	}
	later := newTuple(u.t, s)
	later.compression, later.file, later.stored = u.compression, slices.Clone(u.file), u.stored
	for i := range all.Pages {
		for c := &all.Pages[i].Columns; len(*c) < len(s.Columns); {
			*c = append(*c, envelope.ColumnPages{})
		}
	}
	for _, n := range counts {
		later.list.Clusters, later.list.Pages = all.Clusters[:n], all.Pages[:n]
		last := all.Clusters[n-1]
		later.entries = last.FirstEntry + last.NumEntries
		later.group()
		all.Clusters, all.Pages = all.Clusters[n:], all.Pages[n:]
	}
	for _, g := range u.groups {
		clear(later.file[g.PageList.Locator.Offset:][:g.PageList.Locator.Size])
	}
	return later
}

// TestReload reads with a source whose page lists a writer has overwritten since.
func TestReload(t *testing.T) {
	failed := errors.New("failed")
	for _, test := range []struct {
		name   string
		counts []int // clusters by group of the newest state
		edit   func(later *tuple)
		err    error // of Reload

		reloads int
		good    bool
	}{
		{"one group", []int{5}, nil, nil, 1, true},
		{"a group for each cluster", []int{1, 1, 1, 1, 1}, nil, nil, 1, true},
		{"groups across", []int{1, 3, 1}, nil, nil, 1, true},
		{"the same groups elsewhere", []int{2, 3}, nil, nil, 1, true},
		{"more entries", []int{5}, func(later *tuple) { later.write([]int{4}) }, nil, 1, true},
		{"no state", nil, nil, failed, 1, false},
		{"other clusters", []int{5}, func(later *tuple) {
			*later = *numbers(t, []int{4, 1, 2, 1})
		}, nil, 2, false},
		{"fewer entries", []int{5}, func(later *tuple) { *later = *numbers(t, []int{2, 2}) }, nil, 2, false},
	} {
		u := numbers(t, []int{2, 2}, []int{1, 2, 1})
		m := &memory{data: u.file}
		old := u.source(m)
		wide := schemaOf(t, []*schema.FieldDocument{{Name: "x", Type: "std::int64_t"}}, 0,
			&schema.FieldDocument{Name: "y", Type: "std::int64_t"})
		var newest *Source
		if test.counts != nil {
			later := u.regrouped(wide, test.counts...)
			if test.edit != nil {
				test.edit(later)
			}
			newest = later.source(&memory{data: later.file})
			m.data = later.file
		} else {
			m.data = make([]byte, len(u.file))
		}
		reloads := 0
		old.Reload = func(context.Context) (*Source, error) { reloads++; return newest, test.err }
		all, err := old.Clusters(t.Context())
		if !test.good {
			if !errors.Is(err, frame.ErrCorrupt) && !errors.Is(err, frame.ErrChecksum) {
				t.Errorf("%s: %v", test.name, err)
			}
			if reloads != test.reloads && test.err != nil {
				t.Errorf("%s: %d reloads, want %d", test.name, reloads, test.reloads)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if reloads != test.reloads {
			t.Errorf("%s: %d reloads, want %d", test.name, reloads, test.reloads)
		}
		for i, c := range all {
			if c.ID != i || len(c.Columns()) != 1 {
				t.Errorf("%s: cluster %d of %d has the number %d and %d columns", test.name, i, len(all), c.ID,
					len(c.Columns()))
			}
		}
		if len(all) != 5 {
			t.Errorf("%s: %d clusters", test.name, len(all))
		}
		checkNumbers(t, old, 0, 8)
	}
}

// TestReloadAgain has page lists overwritten again while they are read, until one is good, or none
// is newer.
func TestReloadAgain(t *testing.T) {
	u := numbers(t, []int{2, 2}, []int{3})
	once := u.regrouped(u.schema, 3)
	twice := once.regrouped(u.schema, 1, 1, 1)
	m := &memory{data: twice.file}
	states := []*Source{once.source(m), twice.source(m)}
	reloads := 0
	old := u.source(m)
	old.Reload = func(context.Context) (*Source, error) { reloads++; return states[min(reloads, len(states))-1], nil }
	checkNumbers(t, old, 0, 7)
	if reloads != 2 { // the other group is in the state that was found
		t.Errorf("%d reloads, want 2", reloads)
	}

	reloads = 0
	states = states[:1]
	lost := u.source(m)
	lost.Reload = func(context.Context) (*Source, error) { reloads++; return states[0], nil }
	for range 2 {
		if _, err := lost.Find(t.Context(), 0); !errors.Is(err, frame.ErrCorrupt) {
			t.Error(err)
		}
	}
	if reloads != 3 { // the first time, the second one found nothing newer
		t.Errorf("%d reloads, want 3", reloads)
	}

	reloads = 0
	same := u.source(m)
	same.Reload = func(context.Context) (*Source, error) { reloads++; return same, nil }
	if _, err := same.Find(t.Context(), 0); !errors.Is(err, frame.ErrCorrupt) || reloads != 1 {
		t.Errorf("%d reloads: %v", reloads, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	late := u.source(m)
	late.Reload = func(context.Context) (*Source, error) { cancel(); return states[0], nil }
	if _, err := late.Find(ctx, 0); err == nil {
		t.Error("a state was found after the context was done")
	}
	reloads = 0
	late.Reload = func(context.Context) (*Source, error) { reloads++; return nil, nil }
	if _, err := late.Find(ctx, 0); !errors.Is(err, context.Canceled) || reloads > 0 {
		t.Errorf("%d reloads: %v", reloads, err)
	}
}

// TestSameCluster has clusters that look the same from an earlier state.
func TestSameCluster(t *testing.T) {
	u := numbers(t, []int{2, 2})
	src := u.source(&memory{data: u.file})
	c := clusters(t, src)[1]
	if c.seenFrom(src, 1) != c {
		t.Error("the cluster is another one")
	}
	if other := c.seenFrom(src, 3); other.ID != 3 || other.First != 2 || other.End != 4 || len(other.Columns()) != 1 {
		t.Errorf("%+v", other)
	}
	if none := c.seenFrom(&Source{Schema: &schema.Schema{}}, 1); none.ID != 1 || len(none.Columns()) != 0 {
		t.Errorf("%+v", none)
	}
}

// TestShare has states with some of the same groups: their page lists are read once.
func TestShare(t *testing.T) {
	u := numbers(t, []int{2}, []int{3}, []int{1})
	for _, test := range []struct {
		name string
		edit func(groups []envelope.ClusterGroup) []envelope.ClusterGroup
		read int // lists
	}{
		{"the same", func(g []envelope.ClusterGroup) []envelope.ClusterGroup { return g }, 0},
		{"fewer", func(g []envelope.ClusterGroup) []envelope.ClusterGroup { return g[:2] }, 0},
		{"another list", func(g []envelope.ClusterGroup) []envelope.ClusterGroup {
			g[1].PageList = u.copied(g[1])
			return g
		}, 1},
		{"another order", func(g []envelope.ClusterGroup) []envelope.ClusterGroup {
			return []envelope.ClusterGroup{g[1], g[0], g[2]}
		}, 2},
		{"more", func(g []envelope.ClusterGroup) []envelope.ClusterGroup {
			u.write([]int{4})
			return append(g, u.groups[len(u.groups)-1])
		}, 1},
	} {
		m := &memory{data: u.file}
		old := u.source(m)
		before := clusters(t, old)
		next := &tuple{t: t, schema: u.schema, groups: test.edit(slices.Clone(u.groups[:3]))}
		m.data, next.file = u.file, u.file
		src := next.source(m)
		src.Share(old)
		m.forget()
		after := clusters(t, src)
		if len(m.reads) != test.read {
			t.Errorf("%s: %d page lists were read, want %d", test.name, len(m.reads), test.read)
		}
		for i, c := range after {
			if test.read == 0 && c != before[i] {
				t.Errorf("%s: cluster %d is another one", test.name, i)
			}
		}
		checkNumbers(t, src, 0, src.Entries)
	}
	if src := u.source(&memory{data: u.file}); src.HeaderChecksum() != headerChecksum {
		t.Errorf("checksum %#x", src.HeaderChecksum())
	}
}

// copied writes the page list of a group again.
func (u *tuple) copied(g envelope.ClusterGroup) (link locator.Link) {
	link = g.PageList
	b := slices.Clone(u.file[link.Locator.Offset:][:link.Locator.Size])
	link.Locator.Offset = u.blob(b)
	return link
}
