package workunits

import (
	"context"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A Cluster is a range of entries that can be read without others.
type Cluster struct {
	rntuple.EntryRange
	Cost int64 // bytes that are stored of the wanted columns
}

// Clusters returns the file of a Reader, as plans have it, and its clusters that have entries, in
// order, for engines that cut a data set while they work on it. Of patterns of fields, as in
// Options, none stand for all.
func Clusters(ctx context.Context, r *rntuple.Reader, path string,
	fields []string) (f File, clusters []Cluster, err error) {
	if f, err = fileOf(r, path); err != nil {
		return f, nil, err
	}
	wanted, err := columns(r.Schema(), fields)
	if err != nil {
		return f, nil, err
	}
	all, err := r.StoredClusters(ctx)
	for _, c := range all {
		cost := int64(0)
		for id, pages := range c.Columns() {
			if !wanted[id] {
				continue
			}
			for _, page := range pages.Pages {
				cost += int64(page.StoredSize())
			}
		}
		if c.Len() > 0 {
			clusters = append(clusters, Cluster{c.EntryRange, cost})
		}
	}
	return f, clusters, err
}
