package surgery

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Prefix has HMerge put a prefix before the names of the top-level fields and
// attribute sets of each input, in their order; inputs beyond have none.
func Prefix(each ...string) Option { return func(s *settings) { s.prefix = each } }

// HMerge makes a ROOT file at out with one RNTuple, which has the fields of all
// inputs side by side. They must have the same number of entries: those of the
// same number become one. All inputs are open at a time.
//
// Pages are copied where clusters end at the same entries in all inputs. Where
// they do so after a few clusters, up to twice the size that
// Write(rntuple.ClusterSize) says, these become one: pages are copied, but for
// those of offsets. Else clusters are rewritten.
//
// Fields that an input got while it was written are such here. Attribute sets are
// kept. The name is that of the first input.
//
// The error is an *IncompatibleError, which lists all names that clash and all
// inputs that have another number of entries than the first.
func HMerge(ctx context.Context, out string, inputs []Input, opts ...Option) (*Report, error) {
	if err := notAmong(out, inputs); err != nil {
		return nil, err
	}
	set := newSettings(opts)
	set.keepCompression = set.keepCompression || set.compression == nil
	h := &hmerger{prefix: slices.Concat(set.prefix, make([]string, len(inputs)))}
	defer h.close()
	for _, in := range inputs {
		src, err := openSource(ctx, in, set.read...)
		if err != nil {
			return nil, err
		}
		h.sources = append(h.sources, src)
	}
	if err := h.check(set); err != nil {
		return nil, err
	}
	s, err := h.shape()
	if err != nil {
		return nil, err
	}
	if set.name != "" {
		s.header.Name = set.name
	}
	if err := set.compressAs(ctx, h.sources[0]); err != nil {
		return nil, err
	}
	return makeFile(out, set, inputs, func(f *ntuple.File, report *Report, progress func(float64)) (*output, error) {
		o, err := newOutput(f, s, set, report)
		if err != nil {
			return nil, err
		}
		if err := h.copy(ctx, o, progress); err != nil {
			return o, err
		}
		for i, src := range h.sources {
			report.InputEntries += src.Source.Entries
			if err := o.copySets(ctx, src, h.prefix[i]); err != nil {
				return o, err
			}
		}
		return o, nil
	})
}

// An hmerger merges RNTuples side by side.
type hmerger struct {
	sources []*source
	prefix  []string
}

func (h *hmerger) close() {
	for _, src := range h.sources {
		src.close()
	}
}

// check finds out whether the inputs go together.
func (h *hmerger) check(set *settings) error {
	var problems []Problem
	fields, sets := map[string]string{}, map[string]string{} // the inputs that have them
	first := h.sources[0].Source.Entries
	for i, src := range h.sources {
		problem := func(field, format string, args ...any) {
			problems = append(problems, Problem{src.name, field, fmt.Sprintf(format, args...)})
		}
		if n := src.Source.Entries; n != first {
			problem("", "has %d entries, the first input %d", n, first)
		}
		for _, hidden := range src.Source.Schema.Hidden {
			problem(hidden.Field.Name, "cannot be read: %v", hidden.Err)
		}
		for _, f := range src.Source.Schema.Fields {
			name := h.prefix[i] + f.Name
			if other, taken := fields[name]; taken {
				problem(name, "%s has one of this name", other)
				continue
			}
			fields[name] = src.name
		}
		if set.dropAttributes {
			continue
		}
		for _, a := range src.Footer.AttributeSets {
			name := h.prefix[i] + a.Name
			if other, taken := sets[name]; taken {
				problem("", "attribute set %q: %s has one of this name", name, other)
				continue
			}
			sets[name] = src.name
		}
	}
	if len(problems) > 0 {
		return &IncompatibleError{problems}
	}
	return nil
}

// shape returns the schema of the output: that which all inputs have in their
// headers as the header, and what came later as the extension.
func (h *hmerger) shape() (*shape, error) {
	first := h.sources[0].Header
	s := &shape{header: &envelope.Header{Name: first.Name, Description: first.Description, Writer: first.Writer}, ext: &envelope.Schema{}}
	if err := s.build(); err != nil {
		return nil, err
	}
	for _, later := range []bool{false, true} {
		for i, src := range h.sources {
			var some []*schema.Field
			for _, f := range prefixed(src.Source.Schema.Fields, h.prefix[i]) {
				if f.Extended == later {
					some = append(some, f)
				}
			}
			if err := s.extend(some); err != nil {
				return nil, fmt.Errorf("%s: %w", src.name, err)
			}
		}
		if !later { // fields and columns keep their numbers
			s.header.Schema, *s.ext = *s.ext, envelope.Schema{}
		}
	}
	for _, src := range h.sources {
		for i, set := range src.Header.Features {
			for len(s.header.Features) <= i {
				s.header.Features = append(s.header.Features, 0)
			}
			s.header.Features[i] |= set
		}
		if err := s.addTypes(src.Source.Schema.ExtraTypes); err != nil {
			return nil, fmt.Errorf("%s: %w", src.name, err)
		}
	}
	return s, s.build()
}

// prefixed returns fields with other names: the top-level ones have a prefix.
func prefixed(fields []*schema.Field, prefix string) []*schema.Field {
	if prefix == "" {
		return fields
	}
	copies := map[*schema.Field]*schema.Field{}
	var walk func([]*schema.Field, *schema.Field) []*schema.Field
	walk = func(fields []*schema.Field, parent *schema.Field) (all []*schema.Field) {
		for _, f := range fields {
			c := *f
			c.Parent = parent
			c.Children = walk(f.Children, &c)
			if parent == nil {
				c.Name = prefix + c.Name
			}
			copies[f] = &c
			all = append(all, &c)
		}
		return all
	}
	all := walk(fields, nil)
	for _, c := range copies {
		c.Source = copies[c.Source]
	}
	return all
}

// copy copies all entries.
func (h *hmerger) copy(ctx context.Context, o *output, progress func(part float64)) error {
	w := o.wire(h.ports(o.shape.Schema), h.sources...)
	entries := h.sources[0].Source.Entries
	for first := int64(0); first < entries; {
		runs, stop, err := w.runs(ctx, first)
		if err != nil {
			return err
		}
		joined := false
		if runs != nil {
			joined, err = w.join(ctx, runs, stop-first)
		}
		switch {
		case err != nil:
		case joined:
			err = o.endCluster()
		default:
			err = w.copy(ctx, first, stop)
		}
		if err != nil {
			return err
		}
		first = stop
		progress(float64(first) / float64(entries))
	}
	return nil
}

// ports returns where the fields of the output come from.
func (h *hmerger) ports(s *schema.Schema) map[schema.FieldID]port {
	ports := map[schema.FieldID]port{}
	top := map[string]*schema.Field{}
	for _, f := range s.Fields {
		top[f.Name] = f
	}
	var pair func(src *source, f, g *schema.Field)
	pair = func(src *source, f, g *schema.Field) {
		ports[f.ID] = port{src: src, field: g}
		for i, child := range f.Children {
			pair(src, child, g.Children[i])
		}
	}
	for i, src := range h.sources {
		for _, g := range src.Source.Schema.Fields {
			pair(src, top[h.prefix[i]+g.Name], g)
		}
	}
	return ports
}

// runs returns the clusters of all sources from an entry on, up to the next entry
// where all have an end. If that is too far for one cluster of the output, or one
// of each source is enough, it returns an entry up to which others can copy.
func (w *wiring) runs(ctx context.Context, first int64) (runs [][]*pagesource.Cluster, stop int64, err error) {
	runs = make([][]*pagesource.Cluster, len(w.sources))
	ends := slices.Repeat([]int64{first}, len(w.sources))
	left := 2 * w.out.Sink.Settings().ZippedCluster
	near := true
	for {
		stop = slices.Min(ends)
		if stop > first && (!near || stop == slices.Max(ends)) {
			break
		}
		i := slices.Index(ends, stop)
		c, err := w.sources[i].Source.Find(ctx, stop)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", w.sources[i].name, err)
		}
		_, bytes := stored(c)
		left -= bytes
		near = near && c.First == stop && left >= 0
		runs[i], ends[i] = append(runs[i], c), c.End
	}
	if !near || !slices.ContainsFunc(runs, func(r []*pagesource.Cluster) bool { return len(r) > 1 }) {
		return nil, stop, nil
	}
	return runs, stop, nil
}

// join makes one cluster of the output of all clusters in runs, by source. It is
// not ok, and nothing has been done, where elements would have to be looked at.
func (w *wiring) join(ctx context.Context, runs [][]*pagesource.Cluster, entries int64) (ok bool, err error) {
	o := w.out
	if o.reached < len(o.shape.Columns) || o.set.least >= Rewrite || w.small(slices.Concat(runs...)) {
		return false, nil
	}
	taken := make([]pagecopy.Column, o.reached)
	for id := range taken {
		taken[id].Suppressed = true
	}
	var work [Rewrite + 1]Work
	for _, f := range o.fields() {
		p := w.ports[f.ID]
		run := runs[slices.Index(w.sources, p.src)]
		shifts, ok, err := p.shifts(ctx, run)
		if err != nil || !ok {
			return false, err
		}
		active := -1
		for i := range f.Columns[0] {
			var parts []*chunk
			for k, c := range run {
				part, err := c.Chunk(p.field, i)
				if err != nil {
					return false, fmt.Errorf("%s: %w", p.src.name, err)
				}
				r := int(part.Column.Representation)
				if active < 0 {
					active = r
				}
				if r != active || part.Zeros > 0 {
					return false, nil
				}
				one := &chunk{Chunk: part, src: p.src, where: fmt.Sprintf("%s: cluster %d", p.src.name, c.ID)}
				if i == 0 && k > 0 && shifts[k] > 0 {
					if o.set.most < Reseal {
						return false, nil
					}
					one.shift = []uint64{shifts[k]}
				}
				parts = append(parts, one)
			}
			to := f.Columns[active][i]
			column := &taken[to.ID]
			column.Suppressed = false
			if column.Chunks, err = w.joined(to, parts, &work); err != nil {
				return false, err
			}
		}
	}
	for l, some := range work {
		o.report.Levels[l].add(some.Pages, some.Bytes)
	}
	o.report.Clusters++
	return true, o.copier.Take(entries, taken)
}

// joined returns the parts of a column, and counts the work on them.
func (w *wiring) joined(to *schema.Column, chunks []*chunk, work *[Rewrite + 1]Work) (parts []pagecopy.Chunk, err error) {
	levels := make([]Level, len(chunks))
	same := true // as they are copied, they are compressed as the list of pages says
	for i, c := range chunks {
		if levels[i], err = w.level(to, c); err != nil {
			return nil, err
		}
		same = same && levels[i] == levels[0] && c.Compression == chunks[0].Compression
	}
	for i, c := range chunks {
		if !same && c.Compression != uint32(w.out.Sink.Settings().Compression) {
			levels[i] = max(levels[i], Recompress)
		}
		for _, page := range c.Pages {
			work[levels[i]].add(1, int64(page.StoredSize()))
		}
		parts = append(parts, pagecopy.Chunk{
			Chunk: c.Chunk, From: c.src.Source, Level: pagecopy.Level(levels[i]), Shift: c.shift, Where: c.where,
		})
	}
	return parts, nil
}

// shifts returns by how much the offsets of a field's first column, if it has
// such, rise in each cluster of a run. It is not ok for variants, the tags of
// which count apart, and where the offsets may get too large.
func (p port) shifts(ctx context.Context, run []*pagesource.Cluster) (shifts []uint64, ok bool, err error) {
	shifts = make([]uint64, len(run))
	f := p.field
	if f.Shape == schema.Variant {
		return nil, len(run) == 1, nil
	}
	if len(run) == 1 || !f.Columns[0][0].Type.IsIndex() {
		return shifts, !f.IsDense(), nil
	}
	alone := p.src.Source.NewReadAhead()
	defer alone.Stop()
	offsets, err := pagesource.NewColumn[uint64](alone, f, 0)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", p.src.name, err)
	}
	sum := uint64(0)
	for i, c := range run {
		shifts[i] = sum
		n, err := offsets.Len(c)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", p.src.name, err)
		}
		if n > 0 {
			var last [1]uint64
			if err := offsets.Read(ctx, c, n-1, last[:]); err != nil {
				return nil, false, fmt.Errorf("%s: %w", p.src.name, err)
			}
			sum += last[0]
		}
	}
	return shifts, sum <= math.MaxUint32, nil
}
