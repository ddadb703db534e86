package rntuple_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/sampletest"
	"github.com/go-rntuple/go-rntuple/internal/wire"
	"github.com/go-rntuple/go-rntuple/locator"
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

func newGrower(file *rntuple.File, path string, sets bool, opts ...rntuple.WriteOption) (*grower, error) {
	w, err := rntuple.NewWriter[growing](file, path, opts...)
	g := &grower{file: file, w: w}
	if err == nil && sets {
		g.set, err = rntuple.NewAttributes[growing](w, "set", opts...)
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
		if err := g.set.Write(first, perCheckpoint, growing{first / perCheckpoint}); err != nil {
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
	for i, x := range v.Range(next, end) {
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
		out, err := rntuple.CreateFile(file, rntuple.Sync(false))
		if err != nil {
			t.Error(err)
			return
		}
		g, err := newGrower(out, path, sets)
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
	open := func() (*rntuple.Reader, error) { return rntuple.Open(file, path, rntuple.MapFile(mapped)) }
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
		infos, err := rntuple.ListFile(file)
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
func states(t *testing.T, path string, sets bool, n int, opts ...rntuple.WriteOption) (all [][]byte) {
	t.Helper()
	var m memory
	opts = append(opts, fixed...)
	file, err := rntuple.NewFile(&m, "growing.root", opts...)
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGrower(file, path, sets, opts...)
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

// A changing file is images[0] for the first reads, then images[1] and so on: images[i+1]
// from the read on whose number is at[i]. The first cut bytes of that read are still those
// of images[i].
type changing struct {
	images [][]byte
	at     []int
	cut    int
	reads  int
}

func (c *changing) now() int {
	i := 0
	for i < len(c.at) && c.reads >= c.at[i] {
		i++
	}
	return i
}

func (c *changing) Size() int64 { return int64(len(c.images[c.now()])) }

func (c *changing) ReadAt(b []byte, off int64) (int, error) {
	i := c.now()
	n, err := bytes.NewReader(c.images[i]).ReadAt(b, off)
	if i > 0 && c.reads == c.at[i-1] {
		before := make([]byte, min(c.cut, n))
		k, _ := bytes.NewReader(c.images[i-1]).ReadAt(before, off)
		copy(b, before[:k])
	}
	c.reads++
	return n, err
}

// A place is a part of a file.
type place struct{ first, end uint64 }

// places returns where an RNTuple has its footer and page lists and the anchors of its
// attribute sets, and these theirs.
func places(t *testing.T, r *rntuple.Reader) (all []place) {
	n := r.Unwrapped()
	add := func(l locator.Locator) { all = append(all, place{l.Offset, l.Offset + l.Size}) }
	add(locator.At(n.Anchor.SeekFooter, n.Anchor.NBytesFooter))
	for _, g := range n.Footer.ClusterGroups {
		add(g.PageList.Locator)
	}
	for _, s := range n.Footer.AttributeSets {
		add(s.Anchor)
		set, err := r.OpenAttributes(s.Name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, places(t, set.Reader())...)
	}
	return all
}

// freeOf returns the free segments of a ROOT file.
func freeOf(t *testing.T, file []byte) (all []place) {
	f, err := rootfile.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var l rootfile.FreeList
	c := wire.NewReader(file[f.Header.SeekFree:][:f.Header.NBytesFree], "free list", 0).BigEndian()
	if l.Wire(c); c.Err() != nil {
		t.Fatal(c.Err())
	}
	for _, s := range l.Segments[:len(l.Segments)-1] {
		all = append(all, place{uint64(s.First), uint64(s.Last) + 1})
	}
	return all
}

// overwritten returns the later of two states with everything overwritten by fill that the
// earlier one needs and the later one does not.
func overwritten(t *testing.T, path string, before, after []byte, fill byte) []byte {
	var all [2][]place
	for i, b := range [][]byte{before, after} {
		r, err := rntuple.NewReader(bytes.NewReader(b), int64(len(b)), path)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = places(t, r)
	}
	result := bytes.Clone(after)
	for _, p := range append(all[0], freeOf(t, after)...) {
		if !slices.Contains(all[1], p) {
			copy(result[p.first:p.end], bytes.Repeat([]byte{fill}, int(p.end-p.first)))
		}
	}
	return result
}

// TestCommitWhileOpening commits at every read of an opening, before it and in its middle,
// and twice at any two of them. What a state no longer needs is overwritten.
func TestCommitWhileOpening(t *testing.T) {
	for _, g := range growers {
		t.Run(g.name, func(t *testing.T) {
			all := states(t, g.path, g.sets, 5)
			cuts, rnd, wanted := []int{0, 14, 40, 64, 150, 205, 230}, sampletest.Rand(t), 3
			if testing.Short() {
				cuts, wanted = []int{0, 40, 205}, 1
			}
			for _, fill := range []byte{0, 0xff} {
				images := [][]byte{all[2], overwritten(t, g.path, all[2], all[3], fill), overwritten(t, g.path, all[2], overwritten(t, g.path, all[3], all[4], fill), fill)}
				quiet := &changing{images: images}
				if err := openChanging(quiet, g.path, g.sets, 3, 3); err != nil {
					t.Fatal(err)
				}
				for first := range quiet.reads + 1 {
					for _, later := range sampletest.Cases(rnd, quiet.reads+1, wanted) {
						for _, cut := range cuts {
							second := first + later
							c := &changing{images: images, at: []int{first, second}, cut: cut}
							if err := openChanging(c, g.path, g.sets, 3, 5); err != nil {
								t.Fatalf("commits at reads %d and %d of %d, after %d bytes: %v", first, second, c.reads, cut, err)
							}
						}
					}
				}
			}
		})
	}
}

// openChanging opens a file and makes sure that it has from least to most checkpoints.
func openChanging(c *changing, path string, sets bool, least, most int64) error {
	r, err := rntuple.NewReader(c, c.Size(), path, rntuple.ReadWorkers(1))
	if err != nil {
		return err
	}
	if n := r.NumEntries() / perCheckpoint; n < least || n > most {
		return fmt.Errorf("%d checkpoints, want %d to %d", n, least, most)
	}
	if sets {
		n, err := checkSet(r, int(least))
		if err != nil {
			return err
		}
		if int64(n) > most {
			return fmt.Errorf("%d attributes, want at most %d", n, most)
		}
	}
	if err := checkEntries(r, 1, 0, r.NumEntries()); err != nil {
		return err
	}
	infos, err := rntuple.List(c, c.Size())
	if err != nil || len(infos) != 1 || infos[0].Path != path {
		return fmt.Errorf("list: %v, %w", infos, err)
	}
	next, err := r.Refresh()
	if err != nil {
		return err
	}
	if n := next.NumEntries() / perCheckpoint; n > most {
		return fmt.Errorf("%d checkpoints after refresh, want at most %d", n, most)
	}
	return checkEntries(next, r.NumEntries(), 0, next.NumEntries())
}

// TestUncommittedList has the next but one commit, which is not complete, put its list of
// keys where the one of the earliest state was. It is valid, and leads to a valid state that
// must not be shown.
func TestUncommittedList(t *testing.T) {
	all := states(t, "n", false, 3)
	head := func(b []byte) *rootfile.File {
		f, err := rootfile.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	was, is := head(all[0]).Root, head(all[2]).Root
	if was.NBytesKeys != is.NBytesKeys {
		t.Fatalf("lists of %d and %d bytes", was.NBytesKeys, is.NBytesKeys)
	}
	pending := bytes.Clone(all[2])
	copy(pending, all[1][:512]) // not committed yet
	list := pending[was.SeekKeys:][:was.NBytesKeys]
	copy(list, all[2][is.SeekKeys:])
	binary.BigEndian.PutUint32(list[18:], uint32(was.SeekKeys)) // the list's own place
	begun := slices.Concat(all[0], all[2][len(all[0]):])        // the commits have begun to write
	quiet := &changing{images: [][]byte{begun}}
	if err := openChanging(quiet, "n", false, 1, 1); err != nil {
		t.Fatal(err)
	}
	for at := range quiet.reads + 1 {
		c := &changing{images: [][]byte{begun, pending}, at: []int{at}}
		if err := openChanging(c, "n", false, 1, 2); err != nil {
			t.Errorf("at read %d: %v", at, err)
		}
	}
}

// regroup returns a file with the RNTuple n, written without compression, in which the page
// lists are merged by two, beginning with the second, and the old ones are overwritten.
func regroup(t *testing.T, file []byte) []byte {
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "n")
	if err != nil {
		t.Fatal(err)
	}
	n := r.Unwrapped()
	b := bytes.Clone(file)
	add := func(envelope []byte, err error) locator.Link {
		if err != nil {
			t.Fatal(err)
		}
		at := len(b)
		b = append(b, envelope...)
		return locator.Link{Length: uint64(len(envelope)), Locator: locator.At(uint64(at), uint64(len(envelope)))}
	}
	footer := *n.Footer
	footer.ClusterGroups = nil
	var merged envelope.PageList
	var group envelope.ClusterGroup
	for i, g := range n.Footer.ClusterGroups {
		stored := b[g.PageList.Locator.Offset:][:g.PageList.Locator.Size]
		list, err := envelope.ParsePageList(bytes.Clone(stored))
		if err != nil {
			t.Fatal(err)
		}
		clear(stored)
		if group.NumClusters == 0 {
			group.MinEntry = g.MinEntry
		}
		group.EntrySpan, group.NumClusters = group.EntrySpan+g.EntrySpan, group.NumClusters+g.NumClusters
		merged.HeaderChecksum = list.HeaderChecksum
		merged.Clusters, merged.Pages = append(merged.Clusters, list.Clusters...), append(merged.Pages, list.Pages...)
		if i%2 == 0 || i == len(n.Footer.ClusterGroups)-1 {
			group.PageList = add(merged.Append(nil))
			footer.ClusterGroups = append(footer.ClusterGroups, group)
			group, merged = envelope.ClusterGroup{}, envelope.PageList{}
		}
	}
	clear(b[n.Anchor.SeekFooter:][:n.Anchor.NBytesFooter])
	f, err := rootfile.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	key, err := f.Find("n")
	if err != nil {
		t.Fatal(err)
	}
	header := locator.Link{Length: n.Anchor.LenHeader, Locator: locator.At(n.Anchor.SeekHeader, n.Anchor.NBytesHeader)}
	object, err := anchor.New(header, add(footer.Append(nil)), n.Anchor.MaxKeySize).Append(nil)
	if err != nil || len(object) != int(key.ObjLen) {
		t.Fatalf("anchor of %d bytes, %v", len(object), err)
	}
	copy(b[key.SeekKey+int64(key.KeyLen):], object)
	binary.BigEndian.PutUint32(b[12:], uint32(len(b))) // end of the file
	return b
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

func (s *switched) Size() int64                             { return s.get().Size() }
func (s *switched) ReadAt(b []byte, off int64) (int, error) { return s.get().ReadAt(b, off) }

// TestStalePageLists opens a file, then changes its cluster groups and overwrites the page
// lists, one of which has been read, and reads the file with several goroutines.
func TestStalePageLists(t *testing.T) {
	plain := rntuple.Compression(0)
	all := states(t, "n", false, 12, plain)
	before, after := all[7], regroup(t, all[10])
	for i, read := range []int64{-1, 0, 75, -1, 0, 75} { // this entry's page list has been read
		if i == 3 {
			after = overwritten(t, "n", before, all[10], 0)
		}
		s := &switched{image: before}
		r, err := rntuple.NewReader(s, int64(len(before)), "")
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
	r, err := rntuple.NewReader(bytes.NewReader(damaged), int64(len(damaged)), "")
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
	all := states(t, "n", false, 3)
	write := func(b []byte) { // without a new file
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
		check(err)
		check(f.Truncate(int64(len(b))))
		_, err = f.WriteAt(b, 0)
		check(errors.Join(err, f.Close()))
	}
	write(all[1])
	r, err := rntuple.Open(path, "")
	check(err)
	defer r.Close()
	if same, err := r.Refresh(); same != r || err != nil {
		t.Errorf("nothing new: %v, %v", same, err)
	}

	// Another RNTuple in the file is nothing new for this one.
	update := func(change func(*rntuple.File) error) {
		t.Helper()
		f, err := rntuple.UpdateFile(path)
		check(err)
		check(change(f))
		check(f.Close())
	}
	add := func(name string) func(*rntuple.File) error {
		return func(f *rntuple.File) error {
			w, err := rntuple.NewWriter[growing](f, name)
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
	w, err := rntuple.Append[wider](path, "n", rntuple.ExtendSchema())
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
		{"another", states(t, "n", false, 2, rntuple.Description("another"))[1], rntuple.ErrReplaced},
		{"renamed", states(t, "renamed", false, 2)[1], rntuple.ErrNotFound},
		{"truncated", all[2][:len(all[2])-40], rntuple.ErrCorrupt},
		{"no file", nil, rntuple.ErrCorrupt},
	} {
		write(all[1])
		r, err := rntuple.Open(path, "", rntuple.MapFile(false))
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
	loose, err := rntuple.NewReaderAt(bytes.NewReader(all[0]), int64(len(all[0])), key.Class, object)
	check(err)
	if _, err := loose.Refresh(); !errors.Is(err, rntuple.ErrUnsupported) {
		t.Errorf("without a directory: %v", err)
	}
}

// TestRefreshIsCheap makes sure that a Refresh without anything new is one small read.
func TestRefreshIsCheap(t *testing.T) {
	all := states(t, "n", false, 2)
	c := &counter{ReaderAt: bytes.NewReader(all[0])}
	r, err := rntuple.NewReader(c, int64(len(all[0])), "n")
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
	all := states(t, "n", false, 3)
	write(0, all[0])
	write(1, all[2])
	c, err := rntuple.OpenChain("n", paths, rntuple.MaxOpen(1), rntuple.MapFile(false))
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
	write(0, states(t, "n", false, 3, rntuple.Description("another"))[1])
	if err := expect(); !errors.Is(err, rntuple.ErrReplaced) {
		t.Errorf("another RNTuple: %v", err)
	}
}
