package ntuple_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
)

// A closer counts how often it is closed.
type closer struct{ n int }

func (c *closer) Close() error { c.n++; return errBroken }

// TestRefresh reads an RNTuple that is being written, beside another one and with an attribute set.
func TestRefresh(t *testing.T) {
	o := writeOptions(t)
	s, f := newStore(t, o)
	w := create(t, f, "d/n", header(t, "n"))
	set, err := w.CreateSet(setHeader(t, "set"), o)
	if err != nil {
		t.Fatal(err)
	}
	data := fill(t, w, 0)
	data.put(3)
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	first := s.open(t, "d/n")
	c := new(closer)
	first.CloseWith(c)
	checkNumbers(t, "at first", first, 3)
	firstSet, err := first.OpenSet("set")
	if err != nil {
		t.Fatal(err)
	}
	same, err := first.Refresh(t.Context())
	if err != nil || same != first {
		t.Errorf("without a commit: %p, %v, want %p", same, err, first)
	}
	if src, err := first.Source.Reload(t.Context()); err != nil || src != first.Source {
		t.Errorf("without a commit, reload returns %p, %v", src, err)
	}

	// A commit to another RNTuple changes nothing of this one, and is looked at once.
	other := create(t, f, "d/other", header(t, "other"))
	put(t, other, 5)
	if err := other.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if same, err = first.Refresh(t.Context()); err != nil || same != first {
		t.Errorf("after a commit of another one: %p, %v, want %p", same, err, first)
	}
	reads := s.reads
	if same, err = first.Refresh(t.Context()); err != nil || same != first || s.reads > reads+3 {
		t.Errorf("after a commit of another one, again: %p, %v, %d reads", same, err, s.reads-reads)
	}

	data.put(4)
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	second, err := first.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if second == first || second.Path != "d/n" {
		t.Fatalf("after a commit: %p at %q", second, second.Path)
	}
	checkNumbers(t, "after a commit", second, 7)
	checkNumbers(t, "before a commit", first, 3)
	if src, err := first.Source.Reload(t.Context()); err != nil || src.Entries != 7 {
		t.Errorf("reload returns %v, %v", src, err)
	}

	// The set is found through the RNTuple it belongs to.
	fillSet(t, set)
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if same, err := second.Refresh(t.Context()); err != nil || same == second || same.Source.Entries != 7 {
		t.Errorf("after a commit to the set: %v", err)
	}
	data.put(1)
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	newSet, err := firstSet.Refresh(t.Context())
	if err != nil || newSet.Source.Entries != 1 || firstSet.Source.Entries != 0 {
		t.Errorf("the set has %v: %v", newSet, err)
	}
	if newest, err := second.OpenSet("set"); err != nil || newest.Source.Entries != 1 {
		t.Errorf("the set of an earlier state: %v, %v", newest, err)
	}

	closeAll(t, w, other, f)
	third, err := second.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkNumbers(t, "in the end", third, 8)
	if err := third.Close(); err != errBroken || c.n != 1 {
		t.Errorf("closed %d times: %v", c.n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := first.Refresh(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.failRead = func(int, int64) error { return errBroken }
	if _, err := first.Refresh(t.Context()); !errors.Is(err, errBroken) ||
		!strings.HasPrefix(err.Error(), `RNTuple "d/n": `) {
		t.Error(err)
	}
	if _, err := first.Source.Reload(t.Context()); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

// fillSet writes an entry of an attribute set.
func fillSet(t *testing.T, set *ntuple.Writer) {
	t.Helper()
	for _, c := range set.Schema.Columns {
		b, err := pagesink.NewBuffer[int32](set.Sink, c)
		if err != nil {
			t.Fatal(err)
		}
		b.Add(7)
	}
	if err := set.Sink.EndEntries(1); err != nil {
		t.Fatal(err)
	}
}

// TestShareLists reads the page lists of states that have the same ones once.
func TestShareLists(t *testing.T) {
	s, f := newStore(t, writeOptions(t))
	w := create(t, f, "n", header(t, "n"))
	data := fill(t, w, 0)
	data.put(3)
	if err := errors.Join(w.Sink.CommitClusterGroup(), w.Checkpoint()); err != nil {
		t.Fatal(err)
	}
	r := s.open(t, "n")
	checkNumbers(t, "at first", r, 3)
	data.put(2)
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	fresh, err := r.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(fresh.Footer.ClusterGroups) != 2 {
		t.Fatalf("%d cluster groups", len(fresh.Footer.ClusterGroups))
	}
	at := fresh.Footer.ClusterGroups[0].PageList.Locator.Offset
	again := false
	s.failRead = func(_ int, offset int64) error { again = again || offset == int64(at); return nil }
	checkNumbers(t, "after a commit", fresh, 5)
	if again {
		t.Error("a page list was read again")
	}
}

// TestReplaced has another RNTuple in the place of the one that was opened, or an earlier state, or
// a part of the file.
func TestReplaced(t *testing.T) {
	before := written(t, 9)
	other := written(t, 20)
	grown := written(t, 5)
	u := grown.copied()
	f, err := ntuple.Update(u, u.Size(), writeOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.Resume(u.open(t, "n"), writeOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	fill(t, w, 5).put(4)
	closeAll(t, w, f)
	noHeader := slices.Clone(other.data)
	for _, test := range []struct {
		name      string
		old, now  []byte
		kind      error
		want      string
		different bool
	}{
		{"another header", before.data, replaceName(t), ntuple.ErrReplaced, "replaced by another one", true},
		{"the same header elsewhere", before.data, moved(t), ntuple.ErrReplaced, "replaced by another one", true},
		{"fewer entries", u.data, grown.data, ntuple.ErrReplaced, "it has 5 entries, it had 9", false},
		{"more entries", grown.data, u.data, nil, "", false},
		{"no file", grown.data, noHeader[:10], nil, "", true},
		{"truncated", grown.data, u.data[:len(u.data)-1], frame.ErrCorrupt, "truncated", true},
	} {
		s := &store{data: test.old}
		r := s.open(t, "n")
		s.data = test.now
		fresh, err := r.Refresh(t.Context())
		if !test.different && test.kind == nil {
			if err != nil || len(values(t, fresh)) != 9 {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err == nil || test.kind != nil && !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

// replaceName returns a file with an RNTuple n that is another one.
func replaceName(t *testing.T) []byte {
	t.Helper()
	s, f := newStore(t, writeOptions(t))
	h := header(t, "n")
	h.Description = "another one"
	w := create(t, f, "n", h)
	put(t, w, 9)
	closeAll(t, w, f)
	return s.data
}

// moved returns a file with the RNTuple of written that lies behind another one.
func moved(t *testing.T) []byte {
	t.Helper()
	s, f := newStore(t, writeOptions(t))
	first := create(t, f, "first", header(t, "first"))
	put(t, first, 100)
	closeAll(t, first)
	w := create(t, f, "n", header(t, "n"))
	put(t, w, 20)
	closeAll(t, w, f)
	return s.data
}

// TestRefreshUnsupported has readers that cannot find their RNTuple again.
func TestRefreshUnsupported(t *testing.T) {
	s := written(t, 4)
	r := s.open(t, "n")
	object, err := r.Anchor.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	at, err := ntuple.NewReaderAt(s, s.Size(), "ROOT::RNTuple", object, readOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	checkNumbers(t, "by the anchor", at, 4)
	if at.Path != "ROOT::RNTuple" {
		t.Errorf("the path is %q", at.Path)
	}
	if _, err := at.Refresh(t.Context()); !errors.Is(err, frame.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := at.Source.Reload(t.Context()); !errors.Is(err, frame.ErrUnsupported) {
		t.Error(err)
	}
	if err := at.Close(); err != nil {
		t.Error(err)
	}
}
