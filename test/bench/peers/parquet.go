package main

import (
	"fmt"
	"io"
	"math/bits"
	"os"
	"reflect"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/test/bench/work"
	"github.com/parquet-go/parquet-go"
)

// entry is an entry of type E.
type entry[E any] interface {
	*E
	work.Entry
}

func numFields[E any]() int { return reflect.TypeFor[E]().NumField() }

// convert writes the entries of an RNTuple as a Parquet file: zstd, plain
// encodings, pages of 1 MiB, row groups of a size that leaves work for two threads.
func convert[E any](file, output string) (err error) {
	r, err := rntuple.Open(file, "Events", nil)
	if err != nil {
		return err
	}
	defer r.Close()
	out, err := os.Create(output)
	if err != nil {
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	w := parquet.NewGenericWriter[E](out, parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(1<<20),
		parquet.MaxRowsPerRowGroup(max(1, min(500_000, r.NumEntries()/2))))
	batch := make([]E, 0, 1000)
	flush := func() error {
		_, err := w.Write(batch)
		batch = batch[:0]
		return err
	}
	for e, err := range rntuple.Entries[E](r) {
		if err != nil {
			return err
		}
		if batch = append(batch, *e); len(batch) == cap(batch) {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return w.Close()
}

// overRowGroups opens a file with parquet-go and divides its row groups among
// threads.
func overRowGroups(file string, threads, fields int,
	read func(g parquet.RowGroup, sums []uint64) error) ([]uint64, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(in, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	groups := f.RowGroups()
	return work.Spread(threads, fields, func(i int, sums []uint64) error {
		for _, g := range groups[len(groups)*i/threads : len(groups)*(i+1)/threads] {
			if err := read(g, sums); err != nil {
				return err
			}
		}
		return nil
	})
}

// columns reads the pages of all columns.
func columns[E any](file string, threads int) ([]uint64, error) {
	return overRowGroups(file, threads, numFields[E](), func(g parquet.RowGroup, sums []uint64) error {
		for i, chunk := range g.ColumnChunks() {
			pages := chunk.Pages()
			for {
				page, err := pages.ReadPage()
				if err == io.EOF {
					break
				}
				if err != nil {
					return err
				}
				sum, err := sumOfPage(page)
				if err != nil {
					return err
				}
				sums[i] += sum
				parquet.Release(page)
			}
			if err := pages.Close(); err != nil {
				return err
			}
		}
		return nil
	})
}

func sumOfPage(page parquet.Page) (sum uint64, err error) {
	values := page.Data()
	switch page.Type().Kind() {
	case parquet.Boolean:
		for _, b := range values.Boolean() { // a bit each
			sum += uint64(bits.OnesCount8(b))
		}
	case parquet.Int32:
		sum = work.SumOf(values.Int32())
	case parquet.Int64:
		sum = work.SumOf(values.Uint64())
	case parquet.Float:
		sum = work.SumOf(values.Float())
	case parquet.Double:
		sum = work.SumOf(values.Double())
	default:
		return 0, fmt.Errorf("column of %v", page.Type())
	}
	if len(page.RepetitionLevels()) > 0 {
		sum += uint64(page.NumValues()-page.NumNulls()) << 32
	}
	return sum, nil
}

// rows reads all rows into structs.
func rows[E any, P entry[E]](file string, threads int) ([]uint64, error) {
	return overRowGroups(file, threads, numFields[E](), func(g parquet.RowGroup, sums []uint64) error {
		r := parquet.NewGenericRowGroupReader[E](g)
		batch := make([]E, 1000)
		for {
			n, err := r.Read(batch)
			for i := range batch[:n] {
				P(&batch[i]).AddTo(sums)
			}
			if err == io.EOF {
				return r.Close()
			}
			if err != nil {
				return err
			}
		}
	})
}
