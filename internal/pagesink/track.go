package pagesink

import (
	"reflect"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Track has Written told the bounds of a column, from the next cluster on. The column may
// be added later.
func (s *Sink) Track(id schema.ColumnID) {
	if int(id) < len(s.columns) {
		s.columns[id].tracked = true
		return
	}
	if s.track == nil {
		s.track = map[schema.ColumnID]bool{}
	}
	s.track[id] = true
}

// A writtenCluster is what Written is told of a cluster.
type writtenCluster struct {
	envelope.Cluster
	lists []envelope.ColumnPages
	found []zonemap.Bounds
}

// tracks returns the kinds of the bounds that are wanted, by column, or nil if none are.
func (s *Sink) tracks() (kinds []zonemap.Kind) {
	for i, k := range s.columns {
		if k.tracked && !k.suppressed {
			if kinds == nil {
				kinds = make([]zonemap.Kind, len(s.columns))
			}
			kinds[i] = k.kind()
		}
	}
	return kinds
}

// bounds returns the bounds of the elements as far as they are wanted and known, by column.
func (c *clusterBuilder) bounds() []zonemap.Bounds {
	all := make([]zonemap.Bounds, len(c.pages))
	for i, kind := range c.kinds {
		if kind == zonemap.Unknown {
			continue
		}
		if i < len(c.given) && c.given[i] != nil {
			if all[i] = c.given[i](); all[i].Kind != zonemap.Unknown {
				continue
			}
		}
		parts := make([]*bounds.Part, len(c.pages[i]))
		for j, p := range c.pages[i] {
			parts[j] = p.bounds
		}
		all[i] = bounds.Cluster(kind, parts)
	}
	return all
}

// report calls Written for the clusters that have been written since the last call.
func (s *Sink) report() {
	if s.Written == nil {
		return
	}
	s.mu.Lock()
	all := s.tracked
	s.tracked = nil
	s.mu.Unlock()
	for _, c := range all {
		if s.Err() != nil {
			return
		}
		if err := s.Written(c.Cluster, c.lists, c.found); err != nil {
			s.fail(err)
		}
	}
}

// kind returns of which kind the bounds of the column's elements are.
func (c *columnSink) kind() zonemap.Kind {
	if c.column.Type.IsIndex() {
		return zonemap.Size
	}
	return bounds.KindOf(c.column.Format().Kind())
}

// measure returns the bounds of elements as they are read from the page that they were
// encoded to.
func (b *Buffer[T]) measure(values []T, page []byte) (*bounds.Part, error) {
	if !exact[T](b.c.column.Format()) {
		decoder, err := column.NewDecoder[T](b.c.column.Format())
		if err != nil {
			return nil, err
		}
		values = make([]T, len(values))
		if err := decoder.Decode(values, page); err != nil {
			return nil, err
		}
	}
	return bounds.PartOf(values, b.c.column.Type.IsIndex()), nil
}

// exact reports whether elements of type T are read from pages as they were written.
func exact[T column.Element](f column.Format) bool {
	switch f.Type {
	case column.Real16, column.SplitReal16, column.Real32Trunc, column.Real32Quant:
		return false
	}
	k := reflect.TypeFor[T]().Kind()
	return k == f.Kind() || bounds.KindOf(k) != zonemap.Float // a number that does not fit is an error
}
