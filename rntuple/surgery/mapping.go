package surgery

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An origin is where a field of an output comes from.
type origin struct {
	src   *source
	field *schema.Field // of the source; nil: none, the field has zeros
	shift uint64        // is added to its elements, 64-bit unsigned integers

	// numbers, if not nil, replaces the elements, which have one number for each
	// entry of the source; that takes rewriting.
	numbers []uint64
}

// A mapping says where the fields of an output come from, and copies entries.
type mapping struct {
	out      *output
	origins  map[schema.FieldID]origin // by field of the output
	sources  []*source                 // one at least; they have the same number of entries
	rewrite  bool                      // all is rewritten, whatever the levels are
	progress func(entry int64)         // is called when the entries before the given one are done
	values   *stream                   // of the fields that are defined; nil if none is

	copiers []*copier             // of the top-level fields
	all     []*copier             // these and those below them
	last    []*pagesource.Cluster // that elements were copied from, by source
	atOnce  int64                 // entries of these that are copied at a time
	repage  bool                  // all their pages are to be rewritten

	foresight foresight
	copied    int64 // the entry that elements were copied from last
	expected  int64 // the entry before which the pages of clusters are asked for that are taken over whole

	// Entries that are to be copied from the given clusters, one of each source.
	pending   []columnar.Span
	pendingIn []*pagesource.Cluster

	// Of the entries that are being copied:
	flows []flowing
	sizes map[uint64]collections // by the offset of the first page of offsets
}

func newMapping(o *output, origins map[schema.FieldID]origin, sources ...*source) *mapping {
	m := &mapping{out: o, origins: origins, sources: sources, last: make([]*pagesource.Cluster, len(sources)),
		sizes: map[uint64]collections{}, progress: func(int64) {}}
	for _, f := range o.shape.inherited() {
		if f.Source == nil {
			m.copiers = append(m.copiers, m.copier(f))
		}
	}
	return m
}

// mapping returns the mapping from the sources of a step to the output. Fields of the
// output that begins with the one source have the numbers of those of the source, if
// not the same names. In all other cases fields belong together by name.
func (r *run) mapping(n int, sources []*source) (*mapping, error) {
	origins := map[schema.FieldID]origin{}
	if n == 0 && !r.sideBySide {
		sources[0].sameNumbers(origins, r.out.shape.inherited(), sources[0].schema().Fields)
		return newMapping(r.out, origins, sources...), nil
	}
	for i, src := range sources {
		mode := r.Mode
		if r.sideBySide {
			mode = Filter
		}
		if err := r.out.match(origins, src, r.prefixOf(i), mode, r.ConvertTypes); err != nil {
			return nil, err
		}
	}
	return newMapping(r.out, origins, sources...), nil
}

// original returns the field of the source that one of its schema stands for.
func (s *source) original(f *schema.Field) *schema.Field {
	if s.pruned != nil {
		return s.pruned.origin[f.ID]
	}
	return f
}

// sameNumbers adds the origins of fields that lie where others do in the schema of
// the source.
func (s *source) sameNumbers(origins map[schema.FieldID]origin, fields, others []*schema.Field) {
	for i, f := range fields {
		origins[f.ID] = origin{src: s, field: s.original(others[i])}
		s.sameNumbers(origins, f.Children, others[i].Children)
	}
}

// match adds the origins of fields that belong together by name. In the mode Union,
// fields that the output does not have are added to it.
func (o *output) match(origins map[schema.FieldID]origin, src *source, prefix string, mode Mode, convert bool) error {
	m := compare(o.shape.inherited(), src.schema(), prefix, convert)
	if len(m.problems) > 0 {
		return fmt.Errorf("%s: changed meanwhile: %v", src.name, m.problems[0])
	}
	if mode == Union && len(m.extra) > 0 {
		if err := o.shape.extend(m.extra, prefix); err != nil {
			return src.fail(err)
		}
		m = compare(o.shape.inherited(), src.schema(), prefix, convert)
	}
	if err := o.shape.addTypes(src.Source.Schema.ExtraTypes); err != nil {
		return src.fail(err)
	}
	for id, f := range m.from {
		origins[id] = origin{src: src, field: src.original(f)}
	}
	return nil
}

// copySelection appends the entries of a selection and returns which they are.
func (m *mapping) copySelection(ctx context.Context, s selection) (taken []rntuple.EntryRange, err error) {
	src := m.sources[0]
	for r, err := range m.foresee(ctx, s.all(src.Source.Entries)) {
		if err != nil {
			return nil, src.fail(err)
		}
		if err := m.copyEntries(ctx, r); err != nil {
			return nil, err
		}
		if !m.out.options.DropAttributes && len(src.Footer.AttributeSets) > 0 { // which need to know
			taken = append(taken, r)
		}
	}
	return taken, m.flush(ctx)
}

// copyEntries appends the entries of a range, some of them perhaps not before flush.
func (m *mapping) copyEntries(ctx context.Context, r rntuple.EntryRange) error {
	for r.First < r.End {
		if err := ctx.Err(); err != nil {
			return err
		}
		end, err := m.copyJoined(ctx, r)
		if err == nil && end == r.First {
			end, err = m.copyCluster(ctx, r)
		}
		if err == nil {
			err = m.out.endCluster()
		}
		if err != nil {
			return err
		}
		if len(m.pending) == 0 {
			m.progress(end)
		}
		r.First = end
	}
	return nil
}

// maxPending limits the number of pending spans.
const maxPending = 1 << 16

// flush appends what copyEntries has left.
func (m *mapping) flush(ctx context.Context) error {
	if len(m.pending) == 0 {
		return nil
	}
	spans := m.pending
	m.pending = m.pending[:0]
	if err := m.copyElements(ctx, m.pendingIn, spans); err != nil {
		return err
	}
	return m.out.endCluster()
}

// copyCluster appends the first entries of a range, up to the next end of a cluster,
// and returns where they end.
func (m *mapping) copyCluster(ctx context.Context, r rntuple.EntryRange) (end int64, err error) {
	clusters := make([]*pagesource.Cluster, len(m.sources))
	end = int64(math.MaxInt64)
	for i, src := range m.sources {
		if clusters[i], err = src.find(ctx, r.First); err != nil {
			return 0, err
		}
		end = min(end, clusters[i].End)
	}
	whole := end <= r.End
	for _, c := range clusters {
		whole = whole && c.First == r.First && c.End == end
	}
	known := r
	r.End = min(r.End, end)
	switch {
	case whole && !m.rewrites(clusters):
		if err = m.flush(ctx); err == nil {
			m.expectWhole(ctx, clusters[0], known)
			err = m.takeClusters(clusters, r.Len())
		}
	case m.out.options.most < Rewrite && !m.rewrite:
		err = fmt.Errorf("%s: %w: entries %d to %d need %q", m.sources[0].name, errLevel, r.First, r.End, Rewrite)
	default:
		if len(m.pending) > 0 && !slices.Equal(clusters, m.pendingIn) || len(m.pending) >= maxPending {
			err = m.flush(ctx)
		}
		m.pending, m.pendingIn = append(m.pending, columnar.Span{First: r.First, N: r.Len()}), clusters
	}
	return r.End, err
}

// rewrites reports whether clusters are to be rewritten even if they could be taken
// over whole: because that is asked for, or because they are small.
func (m *mapping) rewrites(clusters []*pagesource.Cluster) bool {
	o := m.out.options
	if m.rewrite || o.AtLeast >= Rewrite {
		return true
	}
	limit := o.JoinClusters
	for _, c := range clusters {
		_, bytes := stored(c)
		limit -= bytes
	}
	return o.JoinClusters > 0 && limit > 0
}

// cluster returns that of clusters which a source has.
func (m *mapping) cluster(src *source, clusters []*pagesource.Cluster) *pagesource.Cluster {
	return clusters[slices.Index(m.sources, src)]
}
