package surgery

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// chunks returns what the columns of the field have in a cluster of the source.
func (from origin) chunks(c *pagesource.Cluster) ([]*pagecopy.Chunk, error) {
	chunks := make([]*pagecopy.Chunk, len(from.field.Columns[0]))
	fail := func(err error) error { return from.src.failIn(fmt.Sprintf("cluster %d", c.ID), err) }
	for i := range chunks {
		stored, err := c.Chunk(from.field, i)
		if err != nil {
			return nil, from.src.fail(err)
		}
		chunks[i] = &pagecopy.Chunk{Chunk: stored, From: from.src.Source, Fail: fail}
		if from.shift != 0 {
			chunks[i].Shift = []uint64{from.shift}
		}
		if i == 0 {
			chunks[i].Bounds = from.src.bounds(from.field, c)
		}
	}
	return chunks, nil
}

// columnsIn returns the columns that chunks are of.
func columnsIn(chunks []*pagecopy.Chunk) []*schema.Column {
	columns := make([]*schema.Column, len(chunks))
	for i, c := range chunks {
		columns[i] = c.Column
	}
	return columns
}

// takeClusters makes one cluster of the output of one of each source.
func (m *mapping) takeClusters(clusters []*pagesource.Cluster, entries int64) error {
	o := m.out
	lists, needed, err := m.chunks(clusters, entries)
	if err != nil {
		return err
	}
	if needed > o.reached {
		if err := o.Sink.CommitCluster(); err != nil { // the one being filled does not have them
			return err
		}
		o.reach(needed, func(c *schema.Column) int64 {
			first := c.PerEntry * o.Sink.Entries()
			if list := lists[c.ID]; list != nil && len(list[0].Pages) > 0 {
				first += list[0].Zeros
				list[0].Zeros = 0 // those before the first element are not stored
			}
			return first
		})
	}
	m.useExact(lists)
	if err := m.defineCluster(entries); err != nil {
		return err
	}
	return m.take(lists[:o.reached], entries)
}

// chunks returns what the sources have in their clusters for the columns of the
// output, by column: one chunk, or nil for a representation that will not be active.
// It also returns how many columns the output needs.
func (m *mapping) chunks(clusters []*pagesource.Cluster,
	entries int64) (lists [][]*pagecopy.Chunk, needed int, err error) {
	lists = make([][]*pagecopy.Chunk, len(m.out.shape.Columns))
	listed := make([]bool, len(lists)) // in the page list of the source, and with more than zeros
	for _, f := range m.out.storedFields() {
		from := m.origins[f.ID]
		if m.out.shape.defines(f) {
			for _, c := range f.Columns[0] {
				lists[c.ID] = []*pagecopy.Chunk{} // the column's buffer has the elements
			}
			continue
		}
		if from.field == nil {
			for _, c := range f.Columns[0] {
				n := c.PerEntry * entries
				zeros := &pagecopy.Chunk{Chunk: pagesource.Chunk{Zeros: n, Elements: n}, Fail: m.sources[0].fail}
				if n > 0 {
					zeros.Bounds = zone.Zeros(zone.KindOf(f))
				}
				lists[c.ID] = []*pagecopy.Chunk{zeros}
			}
			continue
		}
		cluster := m.cluster(from.src, clusters)
		mine, err := from.chunks(cluster)
		if err != nil {
			return nil, 0, err
		}
		for i, c := range f.Columns[representation(f, columnsIn(mine))] {
			one := mine[i]
			lists[c.ID] = mine[i : i+1]
			for k := range min(len(f.Columns), len(from.field.Columns)) {
				listed[f.Columns[k][i].ID] = int(from.field.Columns[k][i].ID) < len(cluster.Columns())
			}
			zeros := c.PerEntry > 0 && one.Zeros == one.Elements && one.Elements > 0
			listed[c.ID] = listed[c.ID] && !zeros || len(one.Pages) > 0
		}
	}
	for id, yes := range listed {
		if yes {
			needed = id + 1
		}
	}
	return lists, needed, nil
}

// useExact moves the chunks of columns that begin with zeros to a representation that
// can hold zeros, if there is one.
func (m *mapping) useExact(lists [][]*pagecopy.Chunk) {
	for _, f := range m.out.storedFields() {
		for r, columns := range f.Columns {
			list := lists[columns[0].ID]
			if len(list) == 0 || list[0].Zeros == 0 {
				continue
			}
			if exact := m.out.exactRepresentation(f, r); exact != r {
				for i, c := range f.Columns[exact] {
					lists[c.ID], lists[columns[i].ID] = lists[columns[i].ID], nil
				}
			}
			break
		}
	}
}

// take makes a cluster of the chunks that each column has, by column; those that have
// none are suppressed.
func (m *mapping) take(lists [][]*pagecopy.Chunk, entries int64) error {
	o := m.out
	columns := make([]pagecopy.Column, len(lists))
	for id, chunks := range lists {
		if chunks == nil {
			columns[id].Suppressed = true
			continue
		}
		if err := m.setLevels(o.shape.Columns[id], chunks); err != nil {
			return err
		}
		for _, c := range chunks {
			if to := o.shape.Columns[id].Format(); c.Column != nil && !sameValues(c.Column.Format(), to) || c.Zeros > 0 &&
				to.Type == column.Real32Quant {
				c.Bounds = zonemap.Bounds{}
			}
			columns[id].Chunks = append(columns[id].Chunks, *c)
			for _, page := range c.Pages {
				o.report.Levels[c.Level].add(1, int64(page.StoredSize()))
			}
		}
	}
	o.report.Clusters++
	return o.copier.Take(entries, columns)
}

// setLevels sets the levels of chunks of a column. A page list says once how all pages
// of a column are compressed: chunks that differ in it are recompressed.
func (m *mapping) setLevels(to *schema.Column, chunks []*pagecopy.Chunk) error {
	same := true
	for _, c := range chunks {
		level := m.out.level(to, c)
		if level > m.out.options.most && c.Shift == nil {
			return c.Fail(fmt.Errorf("field %q: %w: the pages need %q", to.Owner.Path(), errLevel, level))
		}
		c.Level = pagecopy.Level(level)
		same = same && c.Level == chunks[0].Level && c.Compression == chunks[0].Compression
	}
	for _, c := range chunks {
		if !same && c.Compression != uint32(m.out.Sink.Settings().Compression) {
			c.Level = max(c.Level, pagecopy.Recompress)
		}
	}
	return nil
}

// level returns the lowest level that is right for the pages of a chunk.
func (o *output) level(to *schema.Column, c *pagecopy.Chunk) Level {
	if len(c.Pages) == 0 {
		return Clone
	}
	level := Clone
	switch {
	case c.Column.Format() != to.Format() || c.Shift != nil:
		level = Reseal
	case c.Compression != uint32(o.Sink.Settings().Compression) && !o.options.KeepCompression:
		level = Recompress
	}
	return max(level, o.options.AtLeast)
}
