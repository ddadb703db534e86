package rntuple_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

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
	add(n.Anchor.Footer().Locator)
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
	c := frame.NewReader(file[f.Header.SeekFree:][:f.Header.NBytesFree], "free list", 0).BigEndian()
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
		r, err := rntuple.NewReader(bytes.NewReader(b), int64(len(b)), path, nil)
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
			all := states(t, g.path, g.sets, 5, nil)
			cuts, rnd, wanted := []int{0, 14, 40, 64, 150, 205, 230}, sampletest.Rand(t), 3
			if testing.Short() {
				cuts, wanted = []int{0, 40, 205}, 1
			}
			for _, fill := range []byte{0, 0xff} {
				images := [][]byte{all[2], overwritten(t, g.path, all[2], all[3], fill),
					overwritten(t, g.path, all[2], overwritten(t, g.path, all[3], all[4], fill), fill)}
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
	r, err := rntuple.NewReader(c, c.Size(), path, &rntuple.ReadOptions{Workers: 1})
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
	all := states(t, "n", false, 3, nil)
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
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "n", nil)
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
	header := n.Anchor.Header()
	object, err := anchor.New(header, add(footer.Append(nil)), n.Anchor.MaxKeySize).Append(nil)
	if err != nil || len(object) != int(key.ObjLen) {
		t.Fatalf("anchor of %d bytes, %v", len(object), err)
	}
	copy(b[key.SeekKey+int64(key.KeyLen):], object)
	binary.BigEndian.PutUint32(b[12:], uint32(len(b))) // end of the file
	return b
}
