package rntparquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/internal/guard"
)

// NewReader returns a reader of the rows of a Parquet file, in order. fields are the names
// of the top-level columns to read; default: all. Row groups are read by GOMAXPROCS goroutines, and
// a few record batches of each are in memory.
//
// Damaged files cause an error of NewReader or of the reader, never a panic.
func NewReader(ctx context.Context, r parquet.ReaderAtSeeker,
	fields ...string) (records array.RecordReader, err error) {
	return newReader(ctx, r, 0, math.MaxInt, fields)
}

// NewRowGroupReader is like NewReader, but reads only the existing row groups from first up
// to but not including end.
func NewRowGroupReader(ctx context.Context, r parquet.ReaderAtSeeker, first, end int,
	fields ...string) (array.RecordReader, error) {
	return newReader(ctx, r, first, end, fields)
}

func newReader(ctx context.Context, r parquet.ReaderAtSeeker, first, end int,
	fields []string) (records array.RecordReader, err error) {
	p := &parquetReader{ctx: ctx, first: first, end: end}
	err = guard.Call(func() error {
		size, err := r.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		mem := guard.AllocatorFor(size)
		if p.file, err = file.NewParquetReader(r, file.WithReadProps(parquet.NewReaderProperties(mem))); err != nil {
			return err
		}
		// With Parallel set it panics in goroutines of its own.
		if p.in, err = pqarrow.NewFileReader(p.file, pqarrow.ArrowReadProperties{BatchSize: 1 << 14}, mem); err != nil {
			return err
		}
		if p.columns, err = leaves(p.file, fields); err != nil {
			return err
		}
		all, err := p.in.GetRecordReader(ctx, p.columns, []int{})
		if err == nil {
			defer all.Release()
			err = readable(all.Schema())
			records = array.ReaderFromIter(all.Schema(), p.all)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading Parquet: %w", err)
	}
	return records, nil
}

// A RowGroup is a part of a Parquet file that can be read independently.
type RowGroup struct {
	Rows  int64
	Bytes int64 // compressed size of the wanted columns
}

// RowGroups returns the row groups of a Parquet file. wanted reports whether a top-level column is
// included in their Bytes.
func RowGroups(r parquet.ReaderAtSeeker, wanted func(column string) bool) (groups []RowGroup, err error) {
	err = guard.Call(func() error {
		f, err := file.NewParquetReader(r)
		if err != nil {
			return err
		}
		for i := range f.NumRowGroups() {
			m := f.MetaData().RowGroup(i)
			g := RowGroup{Rows: m.NumRows()}
			for c := range m.NumColumns() {
				if !wanted(f.MetaData().Schema.ColumnRoot(c).Name()) {
					continue
				}
				chunk, err := m.ColumnChunk(c)
				if err != nil {
					return err
				}
				g.Bytes += chunk.TotalCompressedSize()
			}
			groups = append(groups, g)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading Parquet: %w", err)
	}
	return groups, nil
}

// readable returns an error that names the columns of a type that arrow-go knows how to name in
// Parquet, but not to read.
func readable(s *arrow.Schema) error {
	var errs []error
	for _, f := range s.Fields() {
		if guard.HasDuration(f.Type) {
			errs = append(errs, fmt.Errorf("column %q of type %s cannot be read from Parquet", f.Name, f.Type))
		}
	}
	return errors.Join(errs...)
}

// A parquetReader reads the row groups of a file.
type parquetReader struct {
	ctx     context.Context
	file    *file.Reader
	in      *pqarrow.FileReader
	columns []int // nil for all
	// Row groups from first to end.
	first, end int
}

// all yields the record batches of all row groups.
func (p *parquetReader) all(yield func(arrow.RecordBatch, error) bool) {
	type result struct {
		batch arrow.RecordBatch
		err   error
	}
	ctx, cancel := context.WithCancel(p.ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	read := func(group int) chan result {
		const ahead = 16 // record batches
		to := make(chan result, ahead)
		running.Go(func() {
			defer close(to)
			for batch, err := range p.group(ctx, group) {
				if err == nil {
					batch.Retain()
				}
				select {
				case to <- result{batch, err}:
				case <-ctx.Done():
					return
				}
			}
		})
		return to
	}
	var groups []chan result
	next := p.first
	for n := min(p.end, p.file.NumRowGroups()); ; groups = groups[1:] {
		for ; next < n && len(groups) < runtime.GOMAXPROCS(0); next++ {
			groups = append(groups, read(next))
		}
		if len(groups) == 0 {
			return
		}
		for r := range groups[0] {
			if r.err != nil {
				r.err = fmt.Errorf("reading Parquet: %w", r.err)
			}
			if !yield(r.batch, r.err) || r.err != nil {
				return
			}
		}
		if err := p.ctx.Err(); err != nil {
			yield(nil, context.Cause(p.ctx))
			return
		}
	}
}

// group yields the record batches of a row group.
func (p *parquetReader) group(ctx context.Context, group int) iter.Seq2[arrow.RecordBatch, error] {
	var r array.RecordReader
	rows := int64(0)
	err := guard.Call(func() (err error) {
		if err := p.check(group); err != nil {
			return err
		}
		rows = p.file.MetaData().RowGroup(group).NumRows()
		r, err = p.in.GetRecordReader(ctx, p.columns, []int{group})
		return err
	})
	if err != nil {
		return func(yield func(arrow.RecordBatch, error) bool) {
			yield(nil, fmt.Errorf("row group %d: %w", group, err))
		}
	}
	return guard.Batches(fmt.Sprintf("row group %d", group), r, rows)
}

// check opens the columns of a row group that lie in structs: what is damaged there makes arrow-go
// panic, and once more in a goroutine of its own, in which nobody can catch it.
func (p *parquetReader) check(group int) error {
	g := p.file.RowGroup(group)
	for i := range g.NumColumns() {
		if len(g.MetaData().Schema.Column(i).ColumnPath()) == 1 || p.columns != nil && !slices.Contains(p.columns, i) {
			continue
		}
		if _, err := g.GetColumnPageReader(i); err != nil {
			return err
		}
	}
	return nil
}

// leaves returns the numbers of the columns below fields, or nil for all.
func leaves(f *file.Reader, fields []string) (columns []int, err error) {
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
