package rootfile_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestMergeInfos merges the lists of files that ROOT has written.
func TestMergeInfos(t *testing.T) {
	list := func(path string) []byte {
		r, err := rntuple.Open(path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		types := r.Schema().ExtraTypes
		if len(types) != 1 {
			t.Fatalf("%s: %d lists", path, len(types))
		}
		return []byte(types[0].Content)
	}
	a, b := list("../../testdata/good/special_streamer.root"), list("../../testdata/good/objects.root")
	same, err := rootfile.MergeInfos(a, a)
	if err != nil || !bytes.Equal(same, a) {
		t.Errorf("a list with itself: %v", err)
	}
	// The second file has the class of the first one, too.
	if all, err := rootfile.MergeInfos(b, a); err != nil || !bytes.Equal(all, b) {
		t.Errorf("nothing new: %d bytes, want %d: %v", len(all), len(b), err)
	}
	all, err := rootfile.MergeInfos(a, b)
	if err != nil || len(all) != len(b) || bytes.Equal(all, b) {
		t.Errorf("%d bytes and %d bytes make %d: %v", len(a), len(b), len(all), err)
	}
	if again, err := rootfile.MergeInfos(all, b); err != nil || !bytes.Equal(again, all) {
		t.Errorf("the list that was made is not read: %v", err)
	}
	for _, n := range []int{0, 3, 4, 10} {
		if _, err := rootfile.MergeInfos(a, b[:n]); !errors.Is(err, frame.ErrUnsupported) {
			t.Errorf("a list of %d bytes that is cut to %d: %v", len(b), n, err)
		}
	}
	for _, n := range []int{len(b) / 2, len(b) - 1} {
		if _, err := rootfile.MergeInfos(a, b[:n]); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("a list of %d bytes that is cut to %d: %v", len(b), n, err)
		}
	}
	if _, err := rootfile.MergeInfos(a, bytes.Repeat([]byte("x"), len(b))); !errors.Is(err, frame.ErrUnsupported) {
		t.Errorf("what is no list: %v", err)
	}
}
