package zone

import (
	"context"
	"reflect"
	"sync"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/lent"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Measure returns the bounds of a field in a cluster. KindOf must know the field.
func Measure(ctx context.Context, blobs *pagesource.Blobs, c *pagesource.Cluster, f *schema.Field) (bounds.Bounds, error) {
	chunk, err := c.Chunk(f, 0)
	if err != nil {
		return bounds.Bounds{}, err
	}
	format, k := chunk.Column.Format(), KindOf(f)
	parts := make([]*bounds.Part, len(chunk.Pages))
	for i, p := range chunk.Pages {
		if err := ctx.Err(); err != nil {
			return bounds.Bounds{}, err
		}
		err := blobs.Page(ctx, format, p, func(page []byte) (err error) {
			parts[i], err = partOf(format, page, int(p.NumElements))
			return err
		})
		if err != nil {
			return bounds.Bounds{}, err
		}
	}
	b := bounds.Cluster(k, parts)
	if chunk.Zeros > 0 {
		b = b.Join(Zeros(k))
	}
	return b, nil
}

// partOf returns what is to be known of the n elements of a page.
func partOf(f column.Format, page []byte, n int) (*bounds.Part, error) {
	var p bounds.Part
	var err error
	switch f.Kind() {
	case reflect.Bool:
		p, err = decoded(f, page, n, bounds.Elements[bool])
	case reflect.Int8:
		p, err = decoded(f, page, n, bounds.Elements[int8])
	case reflect.Int16:
		p, err = decoded(f, page, n, bounds.Elements[int16])
	case reflect.Int32:
		p, err = decoded(f, page, n, bounds.Elements[int32])
	case reflect.Int64:
		p, err = decoded(f, page, n, bounds.Elements[int64])
	case reflect.Uint8:
		p, err = decoded(f, page, n, bounds.Elements[uint8])
	case reflect.Uint16:
		p, err = decoded(f, page, n, bounds.Elements[uint16])
	case reflect.Uint32:
		if f.Type.IsIndex() {
			p, err = decoded(f, page, n, bounds.Offsets[uint32])
		} else {
			p, err = decoded(f, page, n, bounds.Elements[uint32])
		}
	case reflect.Uint64:
		if f.Type.IsIndex() {
			p, err = decoded(f, page, n, bounds.Offsets[uint64])
		} else {
			p, err = decoded(f, page, n, bounds.Elements[uint64])
		}
	case reflect.Float32:
		p, err = decoded(f, page, n, bounds.Elements[float32])
	case reflect.Float64:
		p, err = decoded(f, page, n, bounds.Elements[float64])
	}
	return &p, err
}

// decoded returns what part makes of the elements of a page.
func decoded[T column.Element](f column.Format, page []byte, n int, part func([]T) bounds.Part) (p bounds.Part, err error) {
	d, err := column.NewDecoder[T](f)
	if err != nil {
		return p, err
	}
	elements := lent.Borrow[T](n)
	defer lent.GiveBack(elements)
	if err := d.Decode(elements, page); err != nil {
		return p, err
	}
	return part(elements), nil
}

// Build computes the bounds of fields in each cluster of an RNTuple, in several goroutines.
// It calls progress, if that is not nil, with the number of clusters that are done, never
// twice at the same time. The bounds are by cluster and field.
func Build(ctx context.Context, r *ntuple.Reader, fields []*schema.Field, progress func(done, total int)) ([]*pagesource.Cluster, [][]bounds.Bounds, error) {
	clusters, err := r.Source.Clusters(ctx)
	if err != nil {
		return nil, nil, err
	}
	all := make([][]bounds.Bounds, len(clusters))
	var mu sync.Mutex
	done := 0
	err = parallel.Do(r.Options.Workers, len(clusters), func(i int) error {
		all[i] = make([]bounds.Bounds, len(fields))
		for j, f := range fields {
			b, err := Measure(ctx, &r.Source.Blobs, clusters[i], f)
			if err != nil {
				return err
			}
			all[i][j] = b
		}
		mu.Lock()
		defer mu.Unlock()
		if done++; progress != nil {
			progress(done, len(clusters))
		}
		return nil
	})
	return clusters, all, err
}
