package pagecopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/test/pagetest"
	"github.com/go-rntuple/go-rntuple/schema"
)

var errRead = errors.New("cannot read")

// A reader is a file in memory that can fail.
type reader struct {
	*bytes.Reader
	reads  atomic.Int64
	failAt int64         // the read that fails, from 1
	gate   chan struct{} // nil, or what each read takes something from
}

func (r *reader) ReadAt(b []byte, off int64) (int, error) {
	if r.gate != nil {
		<-r.gate
	}
	if r.reads.Add(1) == r.failAt {
		return 0, errRead
	}
	return r.Reader.ReadAt(b, off)
}

// A source is an RNTuple in memory.
type source struct {
	*pagesource.Source
	file     *reader
	columns  []*schema.Column
	clusters []*pagesource.Cluster
	read     []pagetest.Cluster // the clusters as other code reads them
}

// pushes returns a function that adds the elements of an entry to columns.
type pushes = func(s *pagesink.Sink, columns []*schema.Column) (entry func())

// newSource writes an RNTuple in which push adds the elements of an entry, and opens it.
func newSource(t *testing.T, set pagesink.Settings, entries int, push pushes, descriptions ...envelope.Column) *source {
	t.Helper()
	columns, file := pagetest.Columns(descriptions...), &pagetest.File{}
	s := pagesink.NewSink(context.Background(), &pagesink.Output{Blob: file.Blob}, set, 11)
	s.AddColumns(columns)
	entry := push(s, columns)
	for range entries {
		entry()
		if err := s.EndEntries(1); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CommitClusterGroup(); err != nil {
		t.Fatal(err)
	}
	r := &reader{Reader: bytes.NewReader(file.Bytes)}
	blobs := pagesource.Blobs{R: r, Size: int64(len(file.Bytes)), MaxKeySize: set.MaxKeySize, MaxPage: 1 << 26}
	footer := &envelope.Footer{ClusterGroups: s.Groups()}
	opened, err := pagesource.NewSource(blobs, &schema.Schema{Columns: columns}, 11, footer)
	if err != nil {
		t.Fatal(err)
	}
	src := &source{Source: opened, file: r, columns: columns}
	src.Workers = 1
	if src.clusters, err = src.Clusters(context.Background()); err != nil {
		t.Fatal(err)
	}
	slow := pagetest.Reader{File: file.Bytes, Columns: columns, Sums: 11, MaxKeySize: set.MaxKeySize}
	src.read = slow.Clusters(t, s.Groups())
	return src
}

// chunk returns what a cluster has of a column.
func (s *source) chunk(t *testing.T, cluster, column int, level Level) Chunk {
	t.Helper()
	c, err := s.clusters[cluster].Chunk(s.columns[column].Owner, 0)
	if err != nil {
		t.Fatal(err)
	}
	return Chunk{Chunk: c, From: s.Source, Level: level,
		Fail: func(err error) error { return fmt.Errorf("the source: %w", err) }}
}

// formats are those of the columns that randomEntries fills.
func formats() []envelope.Column {
	return []envelope.Column{
		pagetest.Of(column.SplitReal64), pagetest.Of(column.Real32), pagetest.Of(column.SplitInt32), pagetest.Of(column.Bit),
		pagetest.Of(column.SplitIndex64), pagetest.Of(column.Index32), pagetest.Of(column.Switch), pagetest.Of(column.Int8),
		{Type: column.Real32Trunc, Bits: 16}, {Type: column.Real32Quant, Bits: 8, Min: -4, Max: 4},
		pagetest.Of(column.UInt16),
	}
}

// randomEntries returns what adds an entry with some elements of each column. In half of the
// entries they are equal, so that there are equal pages.
func randomEntries(t *testing.T, rnd *rand.Rand) pushes {
	return func(s *pagesink.Sink, columns []*schema.Column) func() {
		calls := 0
		number := func() float64 {
			if calls/60%2 == 1 {
				return 3
			}
			return math.Floor(rnd.Float64() * 4)
		}
		ends := s.Counter()
		end := func() uint64 { *ends += uint64(number()); return *ends }
		tagged := func() column.Tagged { return column.Tagged{Index: uint64(number()), Tag: uint32(number()) % 3} }
		add := []func(){
			adds(t, s, columns[0], number),
			adds(t, s, columns[1], func() float32 { return float32(number()) }),
			adds(t, s, columns[2], func() int32 { return -int32(number()) }),
			adds(t, s, columns[3], func() bool { return number() == 3 }),
			adds(t, s, columns[4], end),
			adds(t, s, columns[5], end),
			adds(t, s, columns[6], tagged),
			adds(t, s, columns[7], func() int8 { return int8(number()) }),
			adds(t, s, columns[8], func() float32 { return float32(number()) }),
			adds(t, s, columns[9], number),
			adds(t, s, columns[10], func() uint16 { return uint16(number()) }),
		}
		return func() {
			calls++
			for _, a := range add {
				for range 1 + rnd.IntN(3) {
					a()
				}
			}
		}
	}
}

// adds returns a function that adds an element to a column.
func adds[T column.Element](t *testing.T, s *pagesink.Sink, c *schema.Column, next func() T) func() {
	t.Helper()
	b, err := pagesink.NewBuffer[T](s, c)
	if err != nil {
		t.Fatal(err)
	}
	return func() { b.Add(next()) }
}

// An output is an RNTuple that a test copies to.
type output struct {
	*pagesink.Sink
	file    *pagetest.File
	columns []*schema.Column
}

func newOutput(ctx context.Context, set pagesink.Settings, descriptions ...envelope.Column) *output {
	o := &output{file: &pagetest.File{}, columns: pagetest.Columns(descriptions...)}
	o.Sink = pagesink.NewSink(ctx, &pagesink.Output{Blob: o.file.Blob, Stream: o.file.Stream}, set, 11)
	o.AddColumns(o.columns)
	return o
}

// finish ends the RNTuple and reads it.
func (o *output) finish(t *testing.T) []pagetest.Cluster {
	t.Helper()
	if err := o.CommitClusterGroup(); err != nil {
		t.Fatal(err)
	}
	r := pagetest.Reader{File: o.file.Bytes, Columns: o.columns, Sums: 11, MaxKeySize: o.Settings().MaxKeySize}
	return r.Clusters(t, o.Groups())
}
