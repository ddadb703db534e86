package ntuple_test

import (
	"errors"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestResumeExtended resumes RNTuples, with and without entries, that have fields without any.
func TestResumeExtended(t *testing.T) {
	o := writeOptions(t)
	for _, n := range []int{0, 1, 3} {
		s, f := newStore(t, o)
		w := create(t, f, "n", header(t, "n"))
		put(t, w, int32(n))
		if err := w.Sink.CommitCluster(); err != nil {
			t.Fatal(err)
		}
		ext, err := (&schema.Document{Fields: []*schema.FieldDocument{{Name: "y", Type: "std::vector<double>"}}}).Extend(
			w.Schema, int64(n), true)
		if err := errors.Join(err, w.Extend(ext)); err != nil {
			t.Fatal(err)
		}
		closeAll(t, w, f)
		if f, err = ntuple.Update(s, s.Size(), o); err != nil {
			t.Fatal(err)
		}
		if w, err = f.Resume(s.open(t, "n"), o); err != nil {
			t.Fatal(err)
		}
		for i, want := range []int64{int64(n), int64(n), 0} { // y is empty in the first entries
			if got := w.Sink.Elements(w.Schema.Columns[i]); got != want {
				t.Errorf("%d entries: column %d has %d elements, want %d", n, i, got, want)
			}
		}
		closeAll(t, w, f)
		checkNumbers(t, "resumed", s.open(t, "n"), n)
	}
}

// TestSize makes sure that the size of a file that is written grows with each cluster.
func TestSize(t *testing.T) {
	o := writeOptions(t)
	s, f := newStore(t, o)
	if n := f.Size(); n < 100 { // where the first record begins
		t.Errorf("a new file has %d bytes", n)
	}
	w := create(t, f, "n", header(t, "n"))
	b := fill(t, w, 0)
	for range 3 {
		before := f.Size()
		b.put(1000)
		if n := f.Size(); n != before {
			t.Errorf("%d bytes grew to %d before the cluster was committed", before, n)
		}
		if err := w.Sink.CommitCluster(); err != nil {
			t.Fatal(err)
		}
		if n := f.Size(); n <= before {
			t.Errorf("%d bytes grew to %d", before, n)
		}
	}
	if closeAll(t, w, f); f.Size() != s.Size() {
		t.Errorf("%d bytes, the file has %d", f.Size(), s.Size())
	}
}
