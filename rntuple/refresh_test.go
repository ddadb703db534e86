package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// growing are the entries of RNTuples that grow: entry i has X = 7*i+1.
type growing struct{ X int64 }

// perCheckpoint is the number of entries that a checkpoint adds.
const perCheckpoint = 10

// A grower adds entries to an RNTuple, checkpoint after checkpoint. Each of them also adds
// an attribute of its entries, if the RNTuple has a set.
type grower struct {
	file *rntuple.File
	w    *rntuple.Writer[growing]
	set  *rntuple.AttributeWriter[growing]
	next int64
}

func newGrower(file *rntuple.File, path string, sets bool, opts *rntuple.WriteOptions) (*grower, error) {
	w, err := rntuple.NewWriter[growing](file, path, opts)
	g := &grower{file: file, w: w}
	if err == nil && sets {
		g.set, err = rntuple.NewAttributes[growing](w, "set", opts)
	}
	return g, err
}

func (g *grower) checkpoint() error {
	for range perCheckpoint {
		if err := g.w.Write(&growing{7*g.next + 1}); err != nil {
			return err
		}
		g.next++
	}
	if g.set != nil {
		first := g.next - perCheckpoint
		if err := g.set.Write(rntuple.EntryRange{First: first, End: first + perCheckpoint}, growing{first / perCheckpoint}); err != nil {
			return err
		}
	}
	return g.w.Checkpoint()
}

// checkEntries returns an error unless r has at least least entries, all from whole
// checkpoints, and count of them from first on have the right values.
func checkEntries(r *rntuple.Reader, least, first, count int64) error {
	n := r.NumEntries()
	if n < least || n%perCheckpoint != 0 {
		return fmt.Errorf("%d entries, there were %d before", n, least)
	}
	v, err := rntuple.ViewOf[int64](r, "X")
	if err != nil {
		return err
	}
	next := max(0, first)
	end := min(n, next+count)
	for i, x := range v.Range(rntuple.EntryRange{First: next, End: end}) {
		if i != next || x != 7*i+1 {
			return fmt.Errorf("entry %d of %d, expected %d, is %d", i, n, next, x)
		}
		next++
	}
	if v.Err() == nil && next != end {
		return fmt.Errorf("the entries end at %d of %d", next, n)
	}
	return v.Err()
}

// checkSet returns an error unless the attribute set of r has at least least attributes
// with the right ranges and values.
func checkSet(r *rntuple.Reader, least int) (n int, err error) {
	a, err := r.OpenAttributes("set")
	if err != nil {
		return 0, err
	}
	if a.Len() < least {
		return 0, fmt.Errorf("%d attributes, there were %d before", a.Len(), least)
	}
	v, err := rntuple.AttributesOf[growing](a)
	if err != nil {
		return 0, err
	}
	i := int64(0)
	for e, x := range v.All() {
		if want := (rntuple.EntryRange{First: i * perCheckpoint, End: (i + 1) * perCheckpoint}); e != want || x.X != i {
			return 0, fmt.Errorf("attribute %d is %d of %v", i, x.X, e)
		}
		i++
	}
	return a.Len(), v.Err()
}

// The places of RNTuples that grow.
var growers = []struct {
	name, path string
	sets       bool
}{{"top", "n", false}, {"directory", "dir/sub/n", false}, {"sets", "n", true}, {"directory with sets", "dir/n", true}}

// TestBesideWriter opens, refreshes and reads a file as fast as it can while another
// goroutine adds to it as fast as it can. No state of it may be an error, or have fewer
// entries than the one before.
func TestBesideWriter(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 800
	}
	for _, g := range growers {
		for _, mapped := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, mapped %v", g.name, mapped), func(t *testing.T) {
				for left := rounds / len(growers) / 2; left > 0; left -= 100 { // each with a new file
					testBesideWriter(t, g.path, g.sets, mapped, min(left, 100))
				}
			})
		}
	}
}

func testBesideWriter(t *testing.T, path string, sets, mapped bool, rounds int) {
	file := filepath.Join(t.TempDir(), "growing.root")
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	defer writer.Wait()
	defer stop()
	committed := make(chan struct{}) // gets a value after a checkpoint, if one is waited for
	writer.Go(func() {
		defer close(committed)
		out, err := rntuple.CreateFile(file, &rntuple.FileOptions{NoSync: true})
		if err != nil {
			t.Error(err)
			return
		}
		g, err := newGrower(out, path, sets, nil)
		for err == nil && ctx.Err() == nil {
			err = g.checkpoint()
			select {
			case committed <- struct{}{}:
			default:
			}
		}
		if err == nil {
			if err = g.w.Close(); err == nil {
				err = out.Close()
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
	<-committed
	open := func() (*rntuple.Reader, error) { return rntuple.Open(file, path, &rntuple.ReadOptions{NoMap: !mapped}) }
	kept, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { kept.Close() }()
	var least int64
	attributes := 0
	for round := range rounds {
		r, err := open()
		if err != nil {
			t.Fatalf("round %d: open: %v", round, err)
		}
		err = checkEntries(r, least, int64(round)*101%r.NumEntries(), 60)
		least = r.NumEntries()
		if err == nil && sets && round%8 == 0 {
			attributes, err = checkSet(r, attributes)
		}
		r.Close()
		if err != nil {
			t.Fatalf("round %d: opened: %v", round, err)
		}
		next, err := kept.Refresh()
		if err != nil {
			t.Fatalf("round %d: refresh: %v", round, err)
		}
		if err := checkEntries(next, least, next.NumEntries()-15, 15); err != nil {
			t.Fatalf("round %d: refreshed: %v", round, err)
		}
		if err := checkEntries(kept, 0, kept.NumEntries()-25, 25); err != nil {
			t.Fatalf("round %d: before refresh: %v", round, err)
		}
		if sets && round%8 == 4 {
			if attributes, err = checkSet(kept, attributes); err != nil {
				t.Fatalf("round %d: before refresh: %v", round, err)
			}
		}
		kept, least = next, next.NumEntries()
		infos, err := rntuple.ListFile(context.Background(), file, nil)
		if err != nil || len(infos) != 1 || infos[0].Path != path {
			t.Fatalf("round %d: list: %v, %v", round, infos, err)
		}
	}
	// The first of two checkpoints may have been made before the last Refresh.
	<-committed
	<-committed
	if next, err := kept.Refresh(); err != nil || next == kept {
		t.Errorf("Refresh after a checkpoint finds nothing new: %v", err)
	}
}

// states returns a file after each of n checkpoints, and after Close.
func states(t *testing.T, path string, sets bool, n int, opts *rntuple.WriteOptions) (all [][]byte) {
	t.Helper()
	var m memory
	file, err := rntuple.NewFile(&m, "growing.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGrower(file, path, sets, opts)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := g.checkpoint(); err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.Clone(m.b))
	}
	if err := errors.Join(g.w.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return append(all, bytes.Clone(m.b))
}

// A switched file is one of two images.
type switched struct {
	mu    sync.Mutex
	image []byte
}

func (s *switched) set(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.image = b
}

func (s *switched) get() *bytes.Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.NewReader(s.image)
}

func (s *switched) Size() int64 { return s.get().Size() }

func (s *switched) ReadAt(b []byte, off int64) (int, error) { return s.get().ReadAt(b, off) }

// TestStalePageLists opens a file, then changes its cluster groups and overwrites the page
// lists, one of which has been read, and reads the file with several goroutines.
func TestStalePageLists(t *testing.T) {
	plain := &rntuple.WriteOptions{Compression: compress.None}
	all := states(t, "n", false, 12, plain)
	before, after := all[7], regroup(t, all[10])
	for i, read := range []int64{-1, 0, 75, -1, 0, 75} { // this entry's page list has been read
		if i == 3 {
			after = overwritten(t, "n", before, all[10], 0)
		}
		s := &switched{image: before}
		r, err := rntuple.NewReader(s, int64(len(before)), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if read >= 0 {
			if err := checkEntries(r, 80, read, 1); err != nil {
				t.Fatal(err)
			}
		}
		s.set(after)
		var wait sync.WaitGroup
		for i := range int64(4) {
			wait.Go(func() {
				for _, first := range []int64{i * 25, 0} {
					if err := checkEntries(r, 80, first, 80); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		clusters, err := r.Clusters()
		var want []rntuple.EntryRange
		for i := range int64(8) {
			want = append(want, rntuple.EntryRange{First: 10 * i, End: 10 * (i + 1)})
		}
		if err != nil || !slices.Equal(clusters, want) {
			t.Errorf("clusters %v, %v; want %v", clusters, err, want)
		}
		own, err := r.Unwrapped().Source.Clusters(t.Context())
		for i, c := range own {
			if c.ID != i {
				t.Errorf("cluster %d has the number %d, %v", i, c.ID, err)
			}
		}
		next, err := r.Refresh()
		if err != nil {
			t.Fatal(err)
		}
		if err := checkEntries(next, 110, 0, 110); err != nil {
			t.Error(err)
		}
	}

	// Damage without a commit stays what it is.
	damaged := bytes.Clone(before)
	r, err := rntuple.NewReader(bytes.NewReader(damaged), int64(len(damaged)), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	l := r.Unwrapped().Footer.ClusterGroups[0].PageList.Locator
	damaged[l.Offset+l.Size/2] ^= 1
	if err := checkEntries(r, 80, 0, 80); !errors.Is(err, rntuple.ErrChecksum) {
		t.Errorf("a damaged page list: %v", err)
	}
}

// TestRefresh refreshes Readers of files that change in all ways.
func TestRefresh(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.root")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	all := states(t, "n", false, 3, nil)
	write := func(b []byte) { // without a new file
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
		check(err)
		check(f.Truncate(int64(len(b))))
		_, err = f.WriteAt(b, 0)
		check(errors.Join(err, f.Close()))
	}
	write(all[1])
	r, err := rntuple.Open(path, "", nil)
	check(err)
	defer r.Close()
	if same, err := r.Refresh(); same != r || err != nil {
		t.Errorf("nothing new: %v, %v", same, err)
	}

	// Another RNTuple in the file is nothing new for this one.
	update := func(change func(*rntuple.File) error) {
		t.Helper()
		f, err := rntuple.UpdateFile(path, nil)
		check(err)
		check(change(f))
		check(f.Close())
	}
	add := func(name string) func(*rntuple.File) error {
		return func(f *rntuple.File) error {
			w, err := rntuple.NewWriter[growing](f, name, nil)
			if err != nil {
				return err
			}
			return errors.Join(w.Write(&growing{5}), w.Close())
		}
	}
	update(add("other"))
	for range 2 {
		if same, err := r.Refresh(); same != r || err != nil {
			t.Errorf("another RNTuple: %v, %v", same, err)
		}
	}
	update(add("n")) // with a higher cycle
	if _, err := r.Refresh(); !errors.Is(err, rntuple.ErrReplaced) {
		t.Errorf("another one of that name: %v", err)
	}

	// New entries, and a new field.
	write(all[1])
	type wider struct{ X, Y int64 }
	w, err := rntuple.Append[wider](path, "n", &rntuple.WriteOptions{ExtendSchema: true})
	check(err)
	check(w.Write(&wider{20*7 + 1, 4}))
	check(w.Close())
	next, err := r.WithContext(t.Context()).Refresh()
	check(err)
	view, err := rntuple.ViewOf[wider](next, "")
	check(err)
	for i, want := range map[int64]wider{3: {22, 0}, 20: {141, 4}} {
		if got, err := view.At(i); got != want || err != nil {
			t.Errorf("entry %d: %v, %v; want %v", i, got, err, want)
		}
	}
	if next.NumEntries() != 21 || r.NumEntries() != 20 {
		t.Errorf("%d entries, %d before", next.NumEntries(), r.NumEntries())
	}
	check(checkEntries(r, 20, 0, 20))
	if again, err := next.Refresh(); again != next || err != nil {
		t.Errorf("nothing new again: %v, %v", again, err)
	}

	for _, test := range []struct {
		name  string
		file  []byte
		cause error
	}{
		{"fewer", all[0], rntuple.ErrReplaced},
		{"another", states(t, "n", false, 2, &rntuple.WriteOptions{Description: "another"})[1], rntuple.ErrReplaced},
		{"renamed", states(t, "renamed", false, 2, nil)[1], rntuple.ErrNotFound},
		{"truncated", all[2][:len(all[2])-40], rntuple.ErrCorrupt},
		{"no file", nil, rntuple.ErrCorrupt},
	} {
		write(all[1])
		r, err := rntuple.Open(path, "", &rntuple.ReadOptions{NoMap: true})
		check(err)
		write(test.file)
		if _, err := r.Refresh(); !errors.Is(err, test.cause) {
			t.Errorf("%s: %v, want %v", test.name, err, test.cause)
		}
		r.Close()
		if _, err := r.Refresh(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.WithContext(ctx).Refresh(); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	f, err := rootfile.Open(bytes.NewReader(all[0]), int64(len(all[0])))
	check(err)
	key, err := f.Find("n")
	check(err)
	object, err := f.Payload(key)
	check(err)
	loose, err := rntuple.NewReaderFromAnchor(bytes.NewReader(all[0]), int64(len(all[0])), key.Class, object, nil)
	check(err)
	if _, err := loose.Refresh(); !errors.Is(err, rntuple.ErrUnsupported) {
		t.Errorf("without a directory: %v", err)
	}
}

// TestRefreshIsCheap makes sure that a Refresh without anything new is one small read.
func TestRefreshIsCheap(t *testing.T) {
	all := states(t, "n", false, 2, nil)
	c := &counter{ReaderAt: bytes.NewReader(all[0])}
	r, err := rntuple.NewReader(c, int64(len(all[0])), "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.reset()
	if same, err := r.Refresh(); same != r || err != nil {
		t.Errorf("%v, %v", same, err)
	}
	if reads, n := c.reset(); reads != 1 || n > 1024 {
		t.Errorf("%d reads of %d bytes", reads, n)
	}
}

// TestGrowingChain reads a chain that opens its inputs again and again while one of them
// grows: the chain keeps the entries that it had.
func TestGrowingChain(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "a.root"), filepath.Join(dir, "b.root")}
	write := func(i int, b []byte) {
		t.Helper()
		if err := os.WriteFile(paths[i], b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	all := states(t, "n", false, 3, nil)
	write(0, all[0])
	write(1, all[2])
	c, err := rntuple.OpenChain("n", paths, &rntuple.ReadOptions{MaxOpen: 1, NoMap: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	view, err := rntuple.ViewOf[int64](c, "X")
	if err != nil {
		t.Fatal(err)
	}
	expect := func() (err error) {
		for i, x := range view.All() {
			if i >= 10 { // in the second input
				i -= 10
			}
			if x != 7*i+1 {
				t.Errorf("entry %d is %d", i, x)
			}
		}
		return view.Err()
	}
	if err := expect(); err != nil {
		t.Error(err)
	}
	write(0, all[1])
	if err := expect(); err != nil {
		t.Error(err)
	}
	if n, err := c.NumEntries(); n != 40 || err != nil {
		t.Errorf("%d entries, %v", n, err)
	}
	write(0, states(t, "n", false, 3, &rntuple.WriteOptions{Description: "another"})[1])
	if err := expect(); !errors.Is(err, rntuple.ErrReplaced) {
		t.Errorf("another RNTuple: %v", err)
	}
}
