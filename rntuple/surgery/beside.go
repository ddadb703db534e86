package surgery

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// clashes returns the reasons why inputs cannot lie side by side.
func (r *run) clashes(sources []*source) (problems []Problem) {
	fields, sets := map[string]string{}, map[string]string{zonemap.SetName: "the zone map"} // the inputs that have them
	first := sources[0].Source.Entries
	for i, src := range sources {
		add := func(p Problem) {
			p.Input = src.name
			problems = append(problems, p)
		}
		if n := src.Source.Entries; n != first {
			add(Problem{What: fmt.Sprintf("has %d entries, the first input %d", n, first)})
		}
		for _, hidden := range src.Source.Schema.Hidden {
			add(Problem{Field: hidden.Field.Name, What: fmt.Sprintf("cannot be read: %v", hidden.Err)})
		}
		clash := func(owners map[string]string, name, field, what string) {
			if other, taken := owners[name]; taken {
				add(Problem{Field: field, What: what + other + " already has one with this name", Clashes: true})
				return
			}
			owners[name] = src.name
		}
		for _, f := range src.schema().Fields {
			name := r.prefixOf(i) + f.Name
			clash(fields, name, name, "")
		}
		if r.DropAttributes {
			continue
		}
		for _, a := range src.Footer.AttributeSets {
			if zone.IsSet(a) {
				continue // zone maps become one
			}
			name := r.prefixOf(i) + a.Name
			clash(sets, name, "", fmt.Sprintf("attribute set %q: ", name))
		}
	}
	return problems
}

// besideShape returns the schema of sources side by side. Its header has what all
// sources have in theirs, its extension what came later.
func (r *run) besideShape(sources []*source) (*shape, error) {
	first := sources[0].Header
	s := &shape{Header: &envelope.Header{Name: first.Name, Description: first.Description, Writer: first.Writer},
		Extension: &envelope.Schema{}}
	if err := s.build(); err != nil {
		return nil, err
	}
	for _, later := range []bool{false, true} {
		for i, src := range sources {
			some := slices.DeleteFunc(slices.Clone(src.schema().Fields),
				func(f *schema.Field) bool { return f.Extended != later })
			if err := s.extend(some, r.prefixOf(i)); err != nil {
				return nil, src.fail(err)
			}
		}
		if !later { // fields and columns keep their numbers
			s.Header.Schema, *s.Extension = *s.Extension, envelope.Schema{}
		}
	}
	for _, src := range sources {
		for i, set := range src.Header.Features {
			for len(s.Header.Features) <= i {
				s.Header.Features = append(s.Header.Features, 0)
			}
			s.Header.Features[i] |= set
		}
		if err := s.addTypes(src.Source.Schema.ExtraTypes); err != nil {
			return nil, src.fail(err)
		}
	}
	return s, s.build()
}

// copyJoined makes one cluster of the output of the first clusters of a range, up to
// the next entry where clusters end in all sources, and returns that entry. It returns
// r.First, and does nothing, if elements would have to be rewritten.
func (m *mapping) copyJoined(ctx context.Context, r rntuple.EntryRange) (end int64, err error) {
	o := m.out
	if len(m.sources) < 2 || o.reached < len(o.shape.Columns) {
		return r.First, nil
	}
	runs, end, err := m.runs(ctx, r.First)
	if err != nil || runs == nil || end > r.End || m.rewrites(slices.Concat(runs...)) {
		return r.First, err
	}
	lists := make([][]*pagecopy.Chunk, o.reached)
	for _, f := range o.storedFields() {
		from := m.origins[f.ID]
		ok, err := from.join(ctx, f, runs[slices.Index(m.sources, from.src)], o.options.most, lists)
		if err != nil || !ok {
			return r.First, err
		}
	}
	if err := m.flush(ctx); err != nil {
		return r.First, err
	}
	return end, m.take(lists, end-r.First)
}

// join adds what the columns of the field have in a run of clusters to the lists of
// the columns of f. It returns false if elements would have to be rewritten.
func (from origin) join(ctx context.Context, f *schema.Field, run []*pagesource.Cluster, most Level,
	lists [][]*pagecopy.Chunk) (ok bool, err error) {
	shifts, ok, err := from.shifts(ctx, run)
	if err != nil || !ok {
		return false, err
	}
	active := -1 // representation
	for k, c := range run {
		chunks, err := from.chunks(c)
		if err != nil {
			return false, err
		}
		for i, one := range chunks {
			r := int(one.Column.Representation)
			if active < 0 {
				active = r
			}
			if r != active || one.Zeros > 0 {
				return false, nil
			}
			if i == 0 && shifts[k] > 0 {
				if most < Reseal {
					return false, nil
				}
				one.Shift = []uint64{shifts[k]}
			}
			id := f.Columns[active][i].ID
			lists[id] = append(lists[id], one)
		}
	}
	return true, nil
}

// runs returns the clusters of all sources, by source, from an entry on up to the
// next entry where clusters end in all of them. It returns none if they are too many
// for one cluster of the output, or if one cluster of each source is enough.
func (m *mapping) runs(ctx context.Context, first int64) (runs [][]*pagesource.Cluster, stop int64, err error) {
	runs = make([][]*pagesource.Cluster, len(m.sources))
	ends := slices.Repeat([]int64{first}, len(m.sources))
	left := 2 * m.out.Sink.Settings().ZippedCluster
	near := true
	for {
		stop = slices.Min(ends)
		if stop > first && (!near || stop == slices.Max(ends)) {
			break
		}
		i := slices.Index(ends, stop)
		c, err := m.sources[i].find(ctx, stop)
		if err != nil {
			return nil, 0, err
		}
		_, bytes := stored(c)
		left -= bytes
		near = near && c.First == stop && left >= 0
		runs[i], ends[i] = append(runs[i], c), c.End
	}
	if !near || !slices.ContainsFunc(runs, func(r []*pagesource.Cluster) bool { return len(r) > 1 }) {
		return nil, first, nil
	}
	return runs, stop, nil
}

// shifts returns by how much the offsets in the field's first column, if it has
// offsets, must rise in each cluster of a run. It returns false for variants, whose
// tags count separately, and if offsets could get too large.
func (from origin) shifts(ctx context.Context, run []*pagesource.Cluster) (shifts []uint64, ok bool, err error) {
	shifts = make([]uint64, len(run))
	f := from.field
	if f.Shape == schema.Variant {
		return shifts, len(run) == 1, nil
	}
	if len(run) == 1 || !f.Columns[0][0].Type.IsIndex() {
		return shifts, !f.IsDense(), nil
	}
	alone := from.src.Source.NewReadAhead()
	defer alone.Stop()
	offsets, err := pagesource.NewColumn[uint64](alone, f, 0)
	if err != nil {
		return nil, false, from.src.fail(err)
	}
	sum := uint64(0)
	for i, c := range run {
		shifts[i] = sum
		var last [1]uint64
		n, err := offsets.Len(c)
		if err == nil && n > 0 {
			err = offsets.Read(ctx, c, n-1, last[:])
		}
		if err != nil {
			return nil, false, from.src.fail(err)
		}
		sum += last[0]
	}
	return shifts, sum <= math.MaxUint32, nil
}
