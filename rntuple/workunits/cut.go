package workunits

import (
	"cmp"
	"fmt"

	"github.com/go-rntuple/go-rntuple/internal/partition"
)

// cut makes the units of the clusters of all files that have entries.
func (p *Plan) cut(clusters []cluster, o Options) {
	costs, total := make([]int64, len(clusters)), int64(0)
	for i, c := range clusters {
		costs[i] = c.cost
		total += c.cost
	}
	n := o.Count
	if n == 0 {
		target := cmp.Or(o.Target, defaultTarget)
		n = int(min(int64(len(clusters)), (total+target-1)/target))
	}
	if total == 0 { // as of empty collections
		for i, c := range clusters {
			costs[i] = c.Len()
		}
	}
	parts := partition.Equal(costs, max(1, n))
	digits := max(4, len(fmt.Sprint(len(parts)-1)))
	for i, part := range parts {
		u := Unit{Name: fmt.Sprintf("%0*d", digits, i)}
		for _, c := range clusters[part.Begin:part.End] {
			u.add(c)
		}
		p.Units = append(p.Units, u)
	}
}

// add adds a cluster behind the others.
func (u *Unit) add(c cluster) {
	u.Entries += c.Len()
	u.Cost += c.cost
	if n := len(u.Parts); n > 0 && u.Parts[n-1].File == c.File {
		u.Parts[n-1].End = c.End
		return
	}
	u.Parts = append(u.Parts, c.Part)
}
