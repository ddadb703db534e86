package pages

import (
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/schema"
)

// CheckPageList returns the error that reading a cluster of the group would give,
// if its page list is list; firstID is the number of the group's first cluster.
func CheckPageList(s *schema.Schema, headerChecksum uint64, g envelope.ClusterGroup, firstID int, list *envelope.PageList) error {
	src := &Source{Schema: s, headerChecksum: headerChecksum}
	_, err := src.clusters(&group{ClusterGroup: g, firstID: firstID}, list)
	return err
}

// NewCluster returns a cluster that no Source has, for who looks at its pages even
// if something is wrong with it.
func NewCluster(id int, c envelope.Cluster, columns []envelope.ColumnPages) *Cluster {
	return &Cluster{ID: id, First: int64(c.FirstEntry), End: int64(c.FirstEntry + c.NumEntries), columns: columns}
}
