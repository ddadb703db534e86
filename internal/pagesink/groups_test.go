package pagesink

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A groupSink is a sink with one column, whose elements are the numbers from 0 on.
type groupSink struct {
	*Sink
	file   *pagetest.File
	column *Buffer[float64]
}

func newGroupSink(t *testing.T, file *pagetest.File, compression compress.Settings) *groupSink {
	t.Helper()
	s := NewSink(context.Background(), &Output{Blob: file.Blob}, settings(1, compression), 99)
	s.AddColumns(doubles(1))
	b, err := NewBuffer[float64](s, s.Column(0))
	if err != nil {
		t.Fatal(err)
	}
	return &groupSink{s, file, b}
}

// add adds a cluster of n entries.
func (s *groupSink) add(t *testing.T, n int) {
	t.Helper()
	for range n {
		s.column.Add(float64(s.Entries()))
		if err := s.EndEntries(1); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.EndCluster(); err != nil {
		t.Fatal(err)
	}
}

// check makes sure that the groups have all clusters, of the given sizes.
func (s *groupSink) check(t *testing.T, sizes []uint64) {
	t.Helper()
	r := pagetest.Reader{File: s.file.Bytes, Columns: doubles(1), Sums: 99}
	clusters := r.Clusters(t, s.Groups())
	var got []uint64
	for _, c := range clusters {
		got = append(got, c.NumEntries)
	}
	if !slices.Equal(got, sizes) {
		t.Fatalf("clusters of %d entries, want %d", got, sizes)
	}
	bits, _ := pagetest.Values(clusters, 0)
	for i, v := range bits {
		if v != math.Float64bits(float64(i)) {
			t.Fatalf("entry %d has the bits %#x", i, v)
		}
	}
}

// TestCheckpoint makes sure that after each of many checkpoints the groups have all clusters, that
// they are few, that no cluster is listed often, and that a page list is superseded exactly if
// nothing refers to it any more.
func TestCheckpoint(t *testing.T) {
	rnd := sampletest.Rand(t)
	for _, compression := range []compress.Settings{0, 101} {
		s := newGroupSink(t, &pagetest.File{}, compression)
		var sizes []uint64
		groups := map[locator.Link]bool{}     // page lists that were written by Checkpoint
		lasting := map[locator.Link]bool{}    // by CommitClusterGroup
		superseded := map[locator.Link]bool{} // as the sink says
		listed := 0
		for n := 1; n <= 300; n++ {
			clusters := 1
			if n > 150 {
				clusters += rnd.IntN(6)
			}
			for range clusters {
				size := 1 + rnd.IntN(3)
				sizes = append(sizes, uint64(size))
				s.add(t, size)
			}
			if got, pages := s.GroupSize(); got != clusters || pages != clusters {
				t.Fatalf("%d clusters with %d pages in the group, want %d", got, pages, clusters)
			}
			if n == 100 {
				if err := s.CommitClusterGroup(); err != nil {
					t.Fatal(err)
				}
				lasting[s.groups[len(s.groups)-1].PageList] = true
			} else if err := s.Checkpoint(); err != nil {
				t.Fatal(err)
			}
			all := s.Groups()
			last := all[len(all)-1]
			if !lasting[last.PageList] {
				groups[last.PageList] = true
				listed += int(last.NumClusters)
			}
			for _, l := range s.Superseded() {
				if superseded[l] || !groups[l] {
					t.Fatalf("%+v is superseded again, or was never written", l)
				}
				superseded[l] = true
			}
			current := map[locator.Link]bool{}
			for _, g := range all {
				current[g.PageList] = true
			}
			for l := range groups {
				if current[l] == superseded[l] {
					t.Fatalf("%+v: in use %v, superseded %v", l, current[l], superseded[l])
				}
			}
			for l := range lasting {
				if !current[l] {
					t.Fatal("a group of CommitClusterGroup was merged")
				}
			}
			if most := len(lasting) + 2*(maxRuns-1)*(level(len(sizes))+1); len(all) > most {
				t.Fatalf("%d groups of %d clusters, want %d at most", len(all), len(sizes), most)
			}
			if n < 70 || n%20 == 0 {
				s.check(t, sizes)
			}
		}
		if most := len(sizes) * (level(len(sizes)) + 2); listed > most {
			t.Errorf("%d clusters are listed %d times, want %d at most", len(sizes), listed, most)
		}
		if err := s.Checkpoint(); err != nil || len(s.Superseded()) > 0 {
			t.Errorf("a checkpoint of nothing supersedes page lists: %v", err)
		}
		s.check(t, sizes)
	}
}

// TestLevels has checkpoints of one cluster each: four groups of a size make one.
func TestLevels(t *testing.T) {
	s := newGroupSink(t, &pagetest.File{}, 0)
	for n := 1; n <= 64; n++ {
		s.add(t, 1)
		if err := s.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		var got, want []int
		for _, g := range s.Groups() {
			got = append(got, int(g.NumClusters))
		}
		for size := 64; size > 0; size /= 4 { // the digits of n to the base 4
			for range n / size % 4 {
				want = append(want, size)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d checkpoints: groups of %d clusters, want %d", n, got, want)
		}
	}
	for n, want := range map[int]int{1: 0, 3: 0, 4: 1, 15: 1, 16: 2, 63: 2, 64: 3} {
		if got := level(n); got != want {
			t.Errorf("level of %d clusters: %d, want %d", n, got, want)
		}
	}
}

// laterVersion returns a function that gives a page list what this version of the format does not
// have.
func laterVersion(change func(*envelope.PageList)) func([]Group) {
	return func(groups []Group) {
		read := groups[3].Read
		groups[3].Read = func() ([]byte, error) {
			b, _ := read()
			list, err := envelope.ParsePageList(b)
			if err != nil {
				return nil, err
			}
			change(list)
			return list.Append(nil)
		}
	}
}

// TestResume goes on with the groups of an older file, of which some cannot be merged.
func TestResume(t *testing.T) {
	errRead := errors.New("cannot read")
	ones := []uint32{1, 1, 1, 1, 1, 1}
	for name, c := range map[string]struct {
		change func(groups []Group)
		want   []uint32 // clusters by group
		err    error
	}{
		"may be merged":           {func([]Group) {}, []uint32{6}, nil},
		"the second one as it is": {func(groups []Group) { groups[1].Read = nil }, []uint32{1, 1, 4}, nil},
		"the third one as it is":  {func(groups []Group) { groups[2].Read = nil }, ones, nil},
		"the first one as it is":  {func(groups []Group) { groups[0].Read = nil }, []uint32{1, 5}, nil},
		"large page list": {func(groups []Group) {
			groups[4].PageList.Length = maxMerged + 1
			groups[4].Read = func() ([]byte, error) { panic("it is not to be read") }
		}, ones, nil},
		"page lists that are large together": {func(groups []Group) {
			for i, n := range []uint64{1, 1, maxMerged / 4, maxMerged / 4, maxMerged / 2} {
				groups[i].PageList.Length = n
			}
		}, []uint32{1, 1, 4}, nil},
		"of a later version": {laterVersion(func(l *envelope.PageList) { l.Extra = []byte{1} }), ones, nil},
		"with clusters of a later version": {laterVersion(func(l *envelope.PageList) { l.ClustersExtra = []byte{1} }), ones,
			nil},
		"with pages of a later version": {laterVersion(func(l *envelope.PageList) { l.PagesExtra = []byte{1} }), ones,
			nil},
		"in another order": {func(groups []Group) { groups[3], groups[4] = groups[4], groups[3] }, ones, nil},
		"cannot be read": {func(groups []Group) {
			groups[3].Read = func() ([]byte, error) {
				return nil,
					errRead
			}
		}, nil, errRead},
		"no page list": {func(groups []Group) { groups[3].Read = func() ([]byte, error) { return []byte("xx"), nil } }, nil,
			nil},
	} {
		old := newGroupSink(t, &pagetest.File{}, 0)
		for range 5 {
			old.add(t, 2)
			if err := old.CommitClusterGroup(); err != nil {
				t.Fatal(err)
			}
		}
		groups := old.groups
		for i, g := range groups {
			link := g.PageList.Locator
			groups[i].Read = func() ([]byte, error) { return old.file.Bytes[link.Offset:][:link.Size], nil }
		}
		c.change(groups)
		s := newGroupSink(t, old.file, 0)
		s.Resume(10, groups, []int64{10})
		clear(groups) // the sink has a copy
		s.add(t, 3)
		err := s.Checkpoint()
		if c.want == nil {
			if err == nil || c.err != nil && !errors.Is(err, c.err) || !contains(err, "entries from 6 on") ||
				s.Err() == nil {
				t.Errorf("%s: error %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []uint32
		for _, g := range s.Groups() {
			got = append(got, g.NumClusters)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: groups of %d clusters, want %d", name, got, c.want)
		}
		if len(s.Superseded()) > 0 {
			t.Errorf("%s: page lists of the file are superseded, though something else may refer to them", name)
		}
		if s.Entries() != 13 || s.Elements(s.Column(0)) != 13 {
			t.Errorf("%s: %d entries, %d elements", name, s.Entries(), s.Elements(s.Column(0)))
		}
		if strings.HasSuffix(name, "later version") { // the groups behind it can be merged
			for range 2 {
				s.add(t, 1)
				if err := s.Checkpoint(); err != nil {
					t.Fatal(err)
				}
			}
			if n := len(s.Groups()); n != 5 {
				t.Errorf("%s: then %d groups, want 5", name, n)
			}
			continue
		}
		if name != "in another order" && name != "large page list" && name != "page lists that are large together" {
			s.check(t, []uint64{2, 2, 2, 2, 2, 3})
		}
	}
}

// TestEnvelope writes envelopes between clusters, in small blobs and in others.
func TestEnvelope(t *testing.T) {
	plain := slices.Repeat([]byte("envelope"), 1000)
	for _, small := range []bool{false, true} {
		for _, compression := range []compress.Settings{0, 101} {
			file := &pagetest.File{}
			s := newGroupSink(t, file, compression)
			calls := 0
			if small {
				s.out.SmallBlob = func(parts ...[]byte) (int64, error) {
					calls++
					return file.Blob(parts...)
				}
			}
			s.add(t, 1)
			link, err := s.Envelope(plain)
			if err != nil {
				t.Fatal(err)
			}
			r := pagetest.Reader{File: file.Bytes}
			if got := r.Envelope(t, link); !slices.Equal(got, plain) || (link.Locator.Size < link.Length) != (compression > 0) {
				t.Errorf("compression %v: %+v, it differs", compression, link)
			}
			if (calls == 1) != small {
				t.Errorf("%d small blobs", calls)
			}
			file.FailAt = len(file.Sizes) + 1
			if _, err := s.Envelope(plain); !errors.Is(err, pagetest.ErrFull) || s.Err() == nil {
				t.Errorf("the envelope cannot be written: %v, %v", err, s.Err())
			}
		}
	}
}
