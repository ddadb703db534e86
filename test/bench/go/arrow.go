package main

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/test/bench/work"
)

// arrowRecords reads all fields as record batches, with as many workers as threads.
func arrowRecords(file string, _ int) ([]uint64, error) {
	r, err := rntuple.Open(file, "Events", nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	records, err := rntarrow.NewReader(r, &rntarrow.Options{BatchSize: 1 << 16, Reuse: true})
	if err != nil {
		return nil, err
	}
	defer records.Release()
	sums := make([]uint64, len(r.Schema().Fields))
	for records.Next() {
		for i, column := range records.RecordBatch().Columns() {
			sum, err := sumOfColumn(column)
			if err != nil {
				return nil, err
			}
			sums[i] += sum
		}
	}
	return sums, records.Err()
}

// sumOfColumn returns the sum of numbers, or of lists of numbers.
func sumOfColumn(a arrow.Array) (uint64, error) {
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
	case *array.LargeList:
		first, _ := a.ValueOffsets(0)
		_, end := a.ValueOffsets(a.Len() - 1)
		items := array.NewSlice(a.ListValues(), first, end)
		defer items.Release()
		sum, err := sumOfColumn(items)
		return sum + work.Item*uint64(end-first), err
	}
	return 0, fmt.Errorf("column of %v", a.DataType())
}
