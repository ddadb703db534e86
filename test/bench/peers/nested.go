package main

import (
	"fmt"
	"os"

	"github.com/parquet-go/parquet-go"
)

// A nestedRow has what Parquet files of structs have: optional members, lists, maps, dictionaries.
type nestedRow struct {
	ID       int64            `parquet:"id,delta"`
	Name     string           `parquet:"name,dict,zstd"`
	Note     *string          `parquet:"note,optional,snappy"`
	List     []int32          `parquet:"list,list"`
	Points   []nestedPoint    `parquet:"points,list"`
	Map      map[string]int32 `parquet:"map"`
	Inner    nestedInner      `parquet:"inner"`
	Maybe    *nestedInner     `parquet:"maybe,optional"`
	Repeated []float64        `parquet:"repeated"`
	Split    float32          `parquet:"split,split"`
}

type nestedPoint struct {
	X   *float32 `parquet:"x,optional"`
	Tag string   `parquet:"tag,dict"`
}

type nestedInner struct {
	A *bool    `parquet:"a,optional"`
	B []string `parquet:"b,list"`
}

// nested writes a Parquet file of nested rows in several row groups, which tests of conversion
// read.
func nested(output string, n int) (err error) {
	out, err := os.Create(output)
	if err != nil {
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	w := parquet.NewGenericWriter[nestedRow](out, parquet.MaxRowsPerRowGroup(17), parquet.PageBufferSize(200))
	for i := range n {
		text, even, half := fmt.Sprint("note ", i), i%2 == 0, float32(i)/2
		inner := nestedInner{B: []string{"b", "", text}[:i%4]}
		if even {
			inner.A = &even
		}
		row := nestedRow{ID: int64(i), Name: fmt.Sprint("name ", i%5), Inner: inner,
			Repeated: []float64{0.5, 1, float64(i)}[:i%4], Split: half}
		if i%3 > 0 {
			row.Note, row.Maybe = &text, &inner
			row.List = []int32{int32(i), 1, 2}[:i%4]
			row.Map = map[string]int32{"a": int32(i)}
			row.Points = []nestedPoint{{&half, "x"}, {nil, text}}[:i%3]
		}
		if _, err := w.Write([]nestedRow{row}); err != nil {
			return err
		}
	}
	return w.Close()
}
