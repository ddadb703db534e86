package pages

import (
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Column reads the elements of a field's column, whatever representation a
// cluster has it in. It keeps the page it decoded last, for reads that go on
// where the one before ended. It serves one goroutine at a time.
type Column[T column.Element] struct {
	src   *Source
	field *schema.Field
	index int

	decoders []*column.Decoder[T] // by representation

	cluster *Cluster // that chunk is of
	chunk   Chunk
	ends    []int64 // by page: the elements of the chunk up to its end

	page  int // that cache holds, -1 if none
	cache []T
}

// NewColumn returns a reader of the index-th column of f. An error wraps
// wire.ErrUnsupported: a representation cannot be read as T.
func NewColumn[T column.Element](src *Source, f *schema.Field, index int) (*Column[T], error) {
	c := &Column[T]{src: src, field: f, index: index, page: -1}
	for _, rep := range f.Columns {
		d, err := column.NewDecoder[T](rep[index].Format())
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Path(), err)
		}
		c.decoders = append(c.decoders, d)
	}
	return c, nil
}

// Len returns the number of elements in a cluster.
func (c *Column[T]) Len(cluster *Cluster) (int64, error) {
	err := c.enter(cluster)
	return c.chunk.Elements, err
}

func (c *Column[T]) enter(cluster *Cluster) error {
	if c.cluster == cluster {
		return nil
	}
	chunk, err := cluster.Chunk(c.field, c.index)
	if err != nil {
		return err
	}
	c.cluster, c.chunk, c.page = cluster, chunk, -1
	c.ends = c.ends[:0]
	end := chunk.Zeros
	for _, p := range chunk.Pages {
		end += int64(p.NumElements)
		c.ends = append(c.ends, end)
	}
	return nil
}

// Read fills dst with the elements from first on, counted in the cluster.
func (c *Column[T]) Read(ctx context.Context, cluster *Cluster, first int64, dst []T) error {
	if err := c.enter(cluster); err != nil {
		return err
	}
	if first < 0 || first > c.chunk.Elements || int64(len(dst)) > c.chunk.Elements-first {
		return cluster.corrupt(c.field, "elements from %d to %d wanted, the column has %d", first, first+int64(len(dst)), c.chunk.Elements)
	}
	if n := min(int64(len(dst)), c.chunk.Zeros-first); n > 0 {
		clear(dst[:n])
		dst, first = dst[n:], first+n
	}
	for p := c.find(first); len(dst) > 0; p++ {
		n, err := c.readPage(ctx, p, first, dst)
		if err != nil {
			return fmt.Errorf("field %q, column %d, cluster %d, page %d: %w", c.field.Path(), c.chunk.Column.ID, cluster.ID, p, err)
		}
		dst, first = dst[n:], first+int64(n)
	}
	return nil
}

// find returns the page that holds the element first.
func (c *Column[T]) find(first int64) int {
	lo, hi := 0, len(c.ends)
	if c.page >= 0 && c.ends[c.page] > first && c.ends[c.page]-int64(len(c.cache)) <= first {
		return c.page
	}
	for lo < hi {
		if mid := (lo + hi) / 2; c.ends[mid] <= first {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// readPage reads those elements of page p that dst wants, and returns how many.
func (c *Column[T]) readPage(ctx context.Context, p int, first int64, dst []T) (int, error) {
	page := c.chunk.Pages[p]
	n := int(page.NumElements)
	skip := int(first - (c.ends[p] - int64(n)))
	if p == c.page {
		return copy(dst, c.cache[skip:]), nil
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	format, decoder := c.chunk.Column.Format(), c.decoders[c.chunk.Column.Representation]
	whole := skip == 0 && len(dst) >= n
	err := c.src.Page(format, page, func(b []byte) error {
		if whole { // no need to copy
			return decoder.Decode(dst[:n], b)
		}
		c.page = -1
		if cap(c.cache) < n {
			c.cache = make([]T, n)
		}
		c.cache = c.cache[:n]
		if err := decoder.Decode(c.cache, b); err != nil {
			return err
		}
		c.page = p
		return nil
	})
	if err != nil {
		return 0, err
	}
	if whole {
		return n, nil
	}
	return copy(dst, c.cache[skip:]), nil
}
