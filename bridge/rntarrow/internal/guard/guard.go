package guard

import (
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// An allocator panics if it is asked for more than input can become.
type allocator struct {
	memory.Allocator
	most int64
}

// Ratio is how many bytes one of input can become at most: of all codecs of Arrow and Parquet,
// a run in zstd compresses best, which takes four bytes for 128 KiB.
const Ratio = 128 << 10 / 4

// AllocatorFor returns the allocator for an input of the given size.
func AllocatorFor(size int64) memory.Allocator {
	return allocator{memory.DefaultAllocator, min(size, 1<<40/Ratio)*Ratio + 1<<20}
}

func (a allocator) check(n int) {
	if int64(n) > a.most {
		panic(fmt.Sprintf("%d bytes of memory for an input that cannot hold them", n))
	}
}

func (a allocator) Allocate(n int) []byte {
	a.check(n)
	return a.Allocator.Allocate(n)
}

func (a allocator) Reallocate(n int, b []byte) []byte {
	a.check(n)
	return a.Allocator.Reallocate(n, b)
}

// Batches yields the record batches of a reader, and an error if reading panics, or if there are
// fewer rows than there must be; -1 stands for any number.
func Batches(what string, r array.RecordReader, rows int64) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		defer r.Release()
		for got := int64(0); ; {
			more := false
			err := Call(func() error {
				more = r.Next()
				return r.Err()
			})
			switch {
			case err == nil && !more && got < rows:
				err = fmt.Errorf("%d rows of %d", got, rows)
				fallthrough
			case err != nil:
				yield(nil, fmt.Errorf("%s: %w", what, err))
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

// Call makes an error of a panic, which damaged files cause in arrow-go.
func Call(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return f()
}

// HasDuration reports whether values of a type have durations, which arrow-go can name in Parquet, but
// neither write nor read.
func HasDuration(t arrow.DataType) bool {
	if nested, ok := t.(arrow.NestedType); ok {
		return slices.ContainsFunc(nested.Fields(), func(f arrow.Field) bool { return HasDuration(f.Type) })
	}
	return t.ID() == arrow.DURATION
}
