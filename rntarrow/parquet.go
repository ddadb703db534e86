package rntarrow

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// ParquetOptions say how entries become a Parquet file.
type ParquetOptions struct {
	// Options choose fields and types. Structs is always set, as Parquet has no unions. Arrays
	// that may be missing become lists.
	Options
	// Properties are those of the writer. Default: zstd, and what arrow-go's defaults are.
	Properties []parquet.WriterProperty
	// Plain leaves out the Arrow schema, from which readers of Arrow get types back that Parquet
	// does not have, as large lists.
	Plain bool
	// Fold has options for the goroutines that read.
	Fold []rntuple.FoldOption
}

// WriteParquet writes all entries of s as a Parquet file, and returns their number. A row group
// has the entries of a cluster, or of a few if there are thousands. Clusters are read by several
// goroutines, as rntuple.Fold says, each of which holds one in memory.
//
// It does not close w.
func WriteParquet(w io.Writer, s rntuple.Source, o ParquetOptions) (entries int64, err error) {
	before, err := stored(s)
	if err != nil {
		return 0, err
	}
	o.Structs = true
	t, err := newTable(s, o.Options, true, before)
	if err != nil {
		return 0, err
	}
	var properties []pqarrow.WriterOption
	if !o.Plain {
		properties = append(properties, pqarrow.WithStoreSchema())
	}
	all := append([]parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd)}, o.Properties...)
	to, err := pqarrow.NewFileWriter(t.schema, onlyWriter{w}, parquet.NewWriterProperties(all...), pqarrow.NewArrowWriterProperties(properties...))
	if err != nil {
		return 0, err
	}
	type part struct{ records []arrow.RecordBatch }
	write := func(p *part) {
		for i, r := range p.records {
			if err == nil && i == 0 {
				err = to.NewBufferedRowGroupChecked()
			}
			if err == nil {
				err = caught(func() error { return to.WriteBuffered(r) })
			}
			entries += r.NumRows()
		}
		p.records = nil
	}
	sum, failed := rntuple.Fold(s, func(s rntuple.Source, r rntuple.EntryRange) (p part, err error) {
		t, err := newTable(s, t.options, true, t.before) // columns serve one goroutine
		if err != nil {
			return part{}, err
		}
		for record, err := range t.batches(s, r.First, r.End) {
			if err != nil {
				return part{}, err
			}
			p.records = append(p.records, record)
		}
		return p, nil
	}, func(a, b part) part {
		write(&a)
		write(&b)
		return part{}
	}, o.Fold...)
	write(&sum)
	return entries, errors.Join(failed, err, to.Close())
}

// onlyWriter hides other methods of a writer, which the Parquet writer would call.
type onlyWriter struct{ io.Writer }

// NewParquetReader returns a reader of the rows of a Parquet file, in order. fields are the names
// of the columns at the top that it reads, all if there are none.
//
// The error, and that of the reader, tells what is wrong with a file that is damaged.
func NewParquetReader(ctx context.Context, r parquet.ReaderAtSeeker, fields ...string) (records array.RecordReader, err error) {
	err = caught(func() error {
		f, err := file.NewParquetReader(r)
		if err != nil {
			return err
		}
		in, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{Parallel: true, BatchSize: 1 << 14}, memory.DefaultAllocator)
		if err != nil {
			return err
		}
		columns, err := leaves(f, in, fields)
		if err != nil {
			return err
		}
		all, err := in.GetRecordReader(ctx, columns, nil)
		if err == nil {
			records = array.ReaderFromIter(all.Schema(), guarded(all, f.NumRows()))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("Parquet: %w", err)
	}
	return records, nil
}

// leaves returns the numbers of the columns below fields, or nil for all.
func leaves(f *file.Reader, in *pqarrow.FileReader, fields []string) (columns []int, err error) {
	s := f.MetaData().Schema
	for _, name := range fields {
		found := false
		for i := range s.NumColumns() {
			if s.ColumnRoot(i).Name() == name {
				columns, found = append(columns, i), true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no column %q", name)
		}
	}
	return columns, nil
}

// guarded yields the record batches of a reader, and an error if there are fewer rows than there
// are to be, or if reading panics.
func guarded(r array.RecordReader, rows int64) func(yield func(arrow.RecordBatch, error) bool) {
	return func(yield func(arrow.RecordBatch, error) bool) {
		defer r.Release()
		for got := int64(0); ; {
			more := false
			err := caught(func() error {
				more = r.Next()
				return r.Err()
			})
			switch {
			case err == nil && !more && got < rows:
				err = fmt.Errorf("%d rows of %d", got, rows)
				fallthrough
			case err != nil:
				yield(nil, fmt.Errorf("Parquet: %w", err))
				return
			case !more:
				return
			}
			b := r.RecordBatch()
			b.Retain()
			got += b.NumRows()
			if !yield(b, nil) {
				return
			}
		}
	}
}

// caught makes an error of a panic, which damaged files cause in arrow-go.
func caught(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return f()
}
