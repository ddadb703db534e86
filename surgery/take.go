package surgery

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A chunk is what a source has of one column of the output in a cluster.
type chunk struct {
	pagesource.Chunk
	src   *source
	shift []uint64
	where string
}

// take makes a cluster of the output of one of each source.
func (w *wiring) take(clusters []*pagesource.Cluster, entries int64) error {
	o := w.out
	columns := o.shape.Columns
	chunks := make([]*chunk, len(columns)) // of the representations that will be active
	listed := make([]bool, len(columns))   // by the source
	exist := o.reached
	for _, f := range o.fields() {
		p := w.ports[f.ID]
		if p.field == nil {
			for _, c := range f.Columns[0] {
				n := c.PerEntry * entries
				chunks[c.ID] = &chunk{Chunk: pagesource.Chunk{Zeros: n, Elements: n}, where: w.sources[0].name}
			}
			continue
		}
		cluster := w.cluster(p.src, clusters)
		where := fmt.Sprintf("%s: cluster %d", p.src.name, cluster.ID)
		in := make([]*schema.Column, len(f.Columns[0]))
		parts := make([]*chunk, len(in))
		for i := range in {
			part, err := cluster.Chunk(p.field, i)
			if err != nil {
				return fmt.Errorf("%s: %w", p.src.name, err)
			}
			in[i], parts[i] = part.Column, &chunk{Chunk: part, src: p.src, where: where}
			if p.shift != 0 {
				parts[i].shift = []uint64{p.shift}
			}
		}
		r := (&match{}).representation(f, in)
		for i, c := range f.Columns[r] {
			chunks[c.ID] = parts[i]
			for k := range min(len(f.Columns), len(p.field.Columns)) {
				listed[f.Columns[k][i].ID] = int(p.field.Columns[k][i].ID) < len(cluster.Columns())
			}
			listed[c.ID] = listed[c.ID] && !(c.PerEntry > 0 && parts[i].Zeros == parts[i].Elements && parts[i].Elements > 0)
			if len(parts[i].Pages) > 0 {
				listed[c.ID] = true
			}
		}
	}
	for id, yes := range listed {
		if yes {
			exist = max(exist, id+1)
		}
	}
	before := o.reached
	if exist > before {
		if err := o.Sink.CommitCluster(); err != nil { // the one that is filled does not have them
			return err
		}
		o.reach(exist, func(c *schema.Column) int64 {
			first := c.PerEntry * o.Sink.Entries()
			if part := chunks[c.ID]; part != nil && len(part.Pages) > 0 {
				first += part.Zeros
				part.Zeros = 0 // those before the first element are not stored
			}
			return first
		})
	}
	for _, f := range o.fields() {
		for r, columns := range f.Columns {
			part := chunks[columns[0].ID]
			if part == nil || part.Zeros == 0 {
				continue
			}
			if exact := o.exactRepresentation(f, r); exact != r {
				for i, c := range f.Columns[exact] {
					chunks[c.ID], chunks[columns[i].ID] = chunks[columns[i].ID], nil
				}
			}
			break
		}
	}
	taken := make([]pagecopy.Column, o.reached)
	for id := range taken {
		part := chunks[id]
		if part == nil {
			taken[id].Suppressed = true
			continue
		}
		level, err := w.level(columns[id], part)
		if err != nil {
			return err
		}
		c := pagecopy.Chunk{Chunk: part.Chunk, Level: pagecopy.Level(level), Shift: part.shift, Where: part.where}
		if part.src != nil {
			c.From = part.src.Source
		}
		for _, page := range part.Pages {
			o.report.Levels[level].add(1, int64(page.StoredSize()))
		}
		taken[id].Chunks = []pagecopy.Chunk{c}
	}
	o.report.Clusters++
	return o.copier.Take(entries, taken)
}

// level returns the lowest level that is right for the pages of a chunk.
func (w *wiring) level(to *schema.Column, part *chunk) (Level, error) {
	if part.src == nil || len(part.Pages) == 0 {
		return Share, nil
	}
	set := w.out.set
	level := Share
	switch {
	case part.Column.Format() != to.Format() || part.shift != nil:
		level = Reseal
	case part.Compression != uint32(w.out.Sink.Settings().Compression) && !set.keepCompression:
		level = Recompress
	}
	level = max(level, set.least)
	if level > set.most && part.shift == nil {
		return 0, fmt.Errorf("%s: field %q: %w: the pages need %q", part.where, to.Owner.Path(), errLevel, level)
	}
	return level, nil
}

// exactRepresentation returns the representation of a field that zeros and values
// of representation r should be written in: r, but for a quantized one, which may
// only come near to zero, if there is one that does not.
func (o *output) exactRepresentation(f *schema.Field, r int) int {
	from := f.Columns[r][0].Format()
	if from.Type != column.Real32Quant {
		return r
	}
	for exact, columns := range f.Columns {
		c := columns[0]
		if int(c.ID) < o.reached && c.Type != column.Real32Quant && (&match{}).fits(from, c.Format(), true) {
			return exact
		}
	}
	return r
}

// fields returns all fields that have columns of their own, in any depth.
func (o *output) fields() []*schema.Field {
	var all []*schema.Field
	var walk func(*schema.Field)
	walk = func(f *schema.Field) {
		if f.Source != nil {
			return
		}
		if len(f.Columns) > 0 {
			all = append(all, f)
		}
		for _, child := range f.Children {
			walk(child)
		}
	}
	for _, f := range o.shape.Fields {
		walk(f)
	}
	return all
}
