package storagemap

import (
	"context"
	"maps"
	"slices"

	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// maxOffset limits offsets, so that sums of them do not overflow.
const maxOffset = 1 << 61

// extent returns the bytes of the file that a block of n bytes takes, none if they are
// not in the file. One that is split into chunks, as those above 1 GiB are, is taken for
// one piece.
func extent(l locator.Locator, n uint64, cluster int) Extent {
	if l.InFile() != nil || l.Offset > maxOffset || n > maxOffset {
		return Extent{}
	}
	return Extent{Off: int64(l.Offset), End: int64(l.Offset + n), Cluster: cluster}
}

// Extents returns the bytes of the pages, with their checksums, by column ID.
func Extents(ctx context.Context, r *rntuple.Reader) ([][]Extent, error) {
	columns := make([][]Extent, len(r.Schema().Columns))
	clusters, err := r.StoredClusters(ctx)
	if err != nil {
		return nil, err
	}
	for n, cluster := range clusters {
		for id, stored := range cluster.Columns() {
			for _, p := range stored.Pages {
				if p.Locator.Size > 0 {
					columns[id] = append(columns[id], extent(p.Locator, p.StoredSize(), n))
				}
			}
		}
	}
	return columns, nil
}

// Pack moves the extents of objects, which are far apart, one behind the other, in the order of the
// objects.
func Pack(lists [][]Extent) {
	ends := map[int64]int64{} // of objects, by where they begin
	for _, e := range slices.Concat(lists...) {
		ends[e.Off] = e.End
	}
	moved, at := map[int64]int64{}, int64(0)
	for _, off := range slices.Sorted(maps.Keys(ends)) {
		moved[off], at = at, at+ends[off]-off
	}
	for _, list := range lists {
		for i, e := range list {
			list[i].Off, list[i].End = moved[e.Off], moved[e.Off]+e.End-e.Off
		}
	}
}

// Envelopes returns the bytes of header, footer and page lists.
func Envelopes(r *rntuple.Reader) []Extent {
	a := r.Anchor()
	all := []Extent{
		extent(a.Header().Locator, a.NBytesHeader, Metadata),
		extent(a.Footer().Locator, a.NBytesFooter, Metadata),
	}
	for _, g := range r.Footer().ClusterGroups {
		all = append(all, extent(g.PageList.Locator, g.PageList.Locator.Size, Metadata))
	}
	return all
}
