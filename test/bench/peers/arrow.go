package main

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/go-rntuple/go-rntuple/test/bench/work"
)

// records reads a Parquet file with arrow-go as records.
func records[E any](path string, threads int) ([]uint64, error) {
	f, err := file.OpenParquetFile(path, true)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	properties := pqarrow.ArrowReadProperties{BatchSize: 1 << 16, Parallel: threads > 1}
	r, err := pqarrow.NewFileReader(f, properties, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	records, err := r.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		return nil, err
	}
	defer records.Release()
	sums := make([]uint64, numFields[E]())
	for records.Next() {
		for i, column := range records.RecordBatch().Columns() {
			sum, err := sumOfArray(column)
			if err != nil {
				return nil, err
			}
			sums[i] += sum
		}
	}
	return sums, records.Err()
}

func sumOfArray(a arrow.Array) (uint64, error) {
	switch a := a.(type) {
	case *array.Boolean:
		return uint64(bitutil.CountSetBits(a.Data().Buffers()[1].Bytes(), a.Data().Offset(), a.Len())), nil
	case *array.Int32:
		return work.SumOf(a.Int32Values()), nil
	case *array.Uint32:
		return work.SumOf(a.Uint32Values()), nil
	case *array.Uint64:
		return work.SumOf(a.Uint64Values()), nil
	case *array.Float32:
		return work.SumOf(a.Float32Values()), nil
	case *array.Float64:
		return work.SumOf(a.Float64Values()), nil
	case *array.List:
		first, _ := a.ValueOffsets(0)
		_, end := a.ValueOffsets(a.Len() - 1)
		items := array.NewSlice(a.ListValues(), first, end)
		defer items.Release()
		sum, err := sumOfArray(items)
		return sum + uint64(end-first)<<32, err
	}
	return 0, fmt.Errorf("column of %v", a.DataType())
}
