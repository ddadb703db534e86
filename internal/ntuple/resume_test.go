package ntuple_test

import (
	"errors"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
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

// TestResumeRepresentation resumes an RNTuple where an inner field has got another representation
// behind the last cluster, whose page list ends before the new column.
func TestResumeRepresentation(t *testing.T) {
	o := writeOptions(t)
	s, f := newStore(t, o)
	w := create(t, f, "n", headerOf(t, "n", &schema.FieldDocument{Name: "v", Type: "std::vector<float>"}))
	ends, err1 := pagesink.NewBuffer[uint64](w.Sink, w.Schema.Columns[0])
	items, err2 := pagesink.NewBuffer[float32](w.Sink, w.Schema.Columns[1])
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	ends.AddAll([]uint64{2, 5})
	items.AddAll([]float32{1, 2, 3, 4, 5})
	err := errors.Join(w.Sink.EndEntries(2), w.Sink.CommitCluster(), w.Extend(&envelope.Schema{Columns: []envelope.Column{
		{Type: column.Real16, Bits: 16, Field: uint32(w.Schema.Columns[1].Owner.ID), Representation: 1}}}))
	if err != nil {
		t.Fatal(err)
	}
	closeAll(t, w, f)
	if f, err = ntuple.Update(s, s.Size(), o); err != nil {
		t.Fatal(err)
	}
	if w, err = f.Resume(s.open(t, "n"), o); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{2, 5, 5} { // representations count together
		if got := w.Sink.Elements(w.Schema.Columns[i]); got != want {
			t.Errorf("column %d has %d elements, want %d", i, got, want)
		}
	}
	closeAll(t, w, f)
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
