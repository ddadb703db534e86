package rntbeam

import (
	"context"
	"iter"
	"reflect"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// A Batch is a reference to a range of entries of a file, which the worker that receives it reads
// in columnar form: only the location is transferred between workers.
type Batch struct {
	Options ReadOptions // what is read
	File    workunits.File
	Entries rntuple.EntryRange // whole clusters
}

// All yields the entries that satisfy the condition in ReadOptions, in batches that stay valid.
// Entry numbers are those in the file or, with a condition, count the matching entries. The first
// error ends the loop; it is yielded with a nil pointer.
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
