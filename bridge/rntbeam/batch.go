package rntbeam

import (
	"context"
	"iter"
	"reflect"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// A Batch is some entries of a file, to be read in columnar form by the worker that gets it:
// between workers, only their place travels.
type Batch struct {
	Options ReadOptions // what is read
	File    workunits.File
	Entries rntuple.EntryRange // whole clusters
}

// All yields the entries that meet the condition in ReadOptions, in batches that stay valid. Their
// numbers are those in the file, or if there is a condition, count the entries that meet it. The
// first error ends the loop; it comes with a nil pointer.
func (b Batch) All(ctx context.Context) iter.Seq2[*rntuple.Batch, error] {
	return func(yield func(*rntuple.Batch, error) bool) {
		stopped := false
		err := b.read(ctx, func(batch *rntuple.Batch) bool {
			stopped = !yield(batch, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(nil, failed("reading", b.File.Path, err))
		}
	}
}

func (b Batch) read(ctx context.Context, yield func(*rntuple.Batch) bool) error {
	file, err := b.Options.open(ctx, b.File.Path, reflect.TypeFor[Batch]())
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.check(b.File); err != nil {
		return err
	}
	return b.Options.in(ctx, file, b.Entries, func(s rntuple.Source, first, end int64) error {
		shift := int64(0) // of a temporary RNTuple
		if b.Options.Where == "" {
			shift = b.Entries.First - first
		}
		for batch, err := range rntuple.BatchesIn(s, rntuple.EntryRange{First: first, End: end},
			&rntuple.BatchOptions{Fields: b.Options.Fields, Fresh: true}) {
			if err != nil {
				return err
			}
			batch.First += shift
			if !yield(batch) {
				return nil
			}
		}
		return nil
	})
}
