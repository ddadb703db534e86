package zone

import (
	"context"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Measure returns the bounds of a field in a cluster. KindOf must know the field.
func Measure(ctx context.Context, blobs *pagesource.Blobs, c *pagesource.Cluster,
	f *schema.Field) (zonemap.Bounds, error) {
	chunk, err := c.Chunk(f, 0)
	if err != nil {
		return zonemap.Bounds{}, err
	}
	format, k := chunk.Column.Format(), KindOf(f)
	parts := make([]*bounds.Part, len(chunk.Pages))
	for i, p := range chunk.Pages {
		if err := ctx.Err(); err != nil {
			return zonemap.Bounds{}, err
		}
		err := blobs.Page(ctx, format, p, func(page []byte) (err error) {
			parts[i], err = pagesource.PartOf(format, page, int(p.NumElements))
			return err
		})
		if err != nil {
			return zonemap.Bounds{}, err
		}
	}
	b := bounds.Cluster(k, parts)
	if chunk.Zeros > 0 {
		b = b.Join(Zeros(k))
	}
	return b, nil
}

// Build computes the bounds of fields in each cluster of an RNTuple, in several goroutines.
// It calls progress, if that is not nil, with the number of clusters that are done, never
// twice at the same time. The bounds are by cluster and field.
func Build(ctx context.Context, r *ntuple.Reader, fields []*schema.Field,
	progress func(done, total int)) ([]*pagesource.Cluster, [][]zonemap.Bounds, error) {
	clusters, err := r.Source.Clusters(ctx)
	if err != nil {
		return nil, nil, err
	}
	all := make([][]zonemap.Bounds, len(clusters))
	var mu sync.Mutex
	done := 0
	err = parallel.Do(r.Options.Workers, len(clusters), func(i int) error {
		all[i] = make([]zonemap.Bounds, len(fields))
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
