package surgery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// The engine. An operation makes an output and copies ranges of entries into it:
//
//	src, err := openSource(ctx, input)                 // an RNTuple to take from
//	shape, err := newShape(header, extension)          // what the output shall be: src.shape(), or pruned, joined, ...
//	out, err := newOutput(file, dir, shape, settings)  // in a *ntuple.File; resumeOutput goes on with one in place
//	w := out.wire(from)                                // field of the output -> port{source, field of the source}
//	err = w.copy(ctx, first, end)                      // any ranges, in any order, of any wirings
//	err = out.finish()                                 // before the sources are closed: out.wait()
//
// Fields of a wiring may come from several sources, entry by entry; a field that
// comes from nowhere has zeros. copy takes clusters over as a whole where the
// range and all sources have the same borders, page by page at the lowest level
// that is right (take.go), and else rewrites elements (slice.go), into clusters
// that go on over ranges. Deferred columns begin where their first element comes.

// A source is an RNTuple that is open.
type source struct {
	*ntuple.Reader
	name  string // for errors
	ahead *pagesource.ReadAhead
	part  *part // that is wanted of the schema; nil: all
}

// openSource opens an input.
func openSource(ctx context.Context, i Input, opts ...rntuple.Option) (*source, error) {
	r, err := rntuple.Open(i.Path, i.Name, append(opts[:len(opts):len(opts)], rntuple.Context(ctx))...)
	if err != nil {
		return nil, err
	}
	return newSource(r.Unwrapped(), i.String()), nil
}

func newSource(r *ntuple.Reader, name string) *source {
	return &source{Reader: r, name: name, ahead: r.Source.NewReadAhead()}
}

func (s *source) close() error {
	s.ahead.Stop()
	return s.Reader.Close()
}

// shape returns the schema of the source for an output. The features of the
// header are kept, as they speak of the schema.
func (s *source) shape() (*shape, error) {
	header, ext := *s.Header, s.Footer.Extension
	if s.part != nil {
		header, ext = *s.part.header, s.part.ext
	}
	return newShape(&header, ext)
}

// set opens an attribute set, which is closed with the source.
func (s *source) set(name string) (*source, error) {
	r, err := s.OpenSet(name)
	if err != nil {
		return nil, fmt.Errorf("%s: attribute set %q: %w", s.name, name, err)
	}
	return newSource(r, fmt.Sprintf("%s, attribute set %q", s.name, name)), nil
}

// compression returns how the first pages of the source are compressed; it is
// not ok if there are none.
func (s *source) compression(ctx context.Context) (c compress.Settings, ok bool, err error) {
	if s.Source.Entries == 0 {
		return 0, false, nil
	}
	cluster, err := s.Source.Find(ctx, 0)
	if err != nil {
		return 0, false, fmt.Errorf("%s: %w", s.name, err)
	}
	for _, c := range cluster.Columns() {
		if len(c.Pages) > 0 {
			return compress.Settings(c.Compression), true, nil
		}
	}
	return 0, false, nil
}

// An output is an RNTuple that is put together of entries of others.
type output struct {
	*ntuple.Writer
	copier  *pagecopy.Copier // into Sink
	shape   *shape
	set     *settings
	report  *Report
	reached int                    // columns that exist; later ones have had nothing but zeros
	fill    []*filler              // of the columns that exist
	active  map[schema.FieldID]int // representation that slices are written in, if not 0
	first   []int64                // FirstElement that further representations have in the first input, by column
	sets    map[string]*output
}

// A filler appends elements to a column; one of its members is set once slices
// need it.
type filler struct {
	elements pagecopy.Elements
	offsets  *pagecopy.Offsets
	tags     *pagecopy.Tags
}

// newOutput begins an RNTuple in a file; the name in the shape's header may lead
// through directories.
func newOutput(f *ntuple.File, s *shape, set *settings, report *Report) (*output, error) {
	dir, name := path.Split(s.header.Name)
	s.header.Name = name
	o, err := ntuple.NewWriteOptions(set.write)
	if err != nil {
		return nil, err
	}
	s.header.Writer = ntuple.WriterName()
	w, err := f.Create(path.Join(dir, name), s.header, o)
	if err != nil {
		return nil, err
	}
	w.Extension = *s.ext
	return begun(w, s, set, report), nil
}

func begun(w *ntuple.Writer, s *shape, set *settings, report *Report) *output {
	s.ext = &w.Extension
	return &output{Writer: w, copier: pagecopy.NewCopier(w.Sink), shape: s, set: set, report: report, reached: len(s.header.Columns), active: map[schema.FieldID]int{}, sets: map[string]*output{}}
}

// resumeOutput goes on with the RNTuple of a source, in the file that it is in.
// What it has stays in place.
func resumeOutput(f *ntuple.File, src *source, set *settings, report *Report) (*output, error) {
	o, err := ntuple.NewWriteOptions(set.write)
	if err != nil {
		return nil, err
	}
	w, err := f.Resume(src.Reader, o)
	if err != nil {
		return nil, err
	}
	return resumed(w, set, report)
}

func resumed(w *ntuple.Writer, set *settings, report *Report) (*output, error) {
	s := &shape{header: &w.Header, ext: &w.Extension}
	if err := s.build(); err != nil {
		return nil, err
	}
	out := begun(w, s, set, report)
	out.reached = len(s.Columns)
	return out, nil
}

// extend adds top-level fields of a source to the schema.
func (o *output) extend(fields []*schema.Field) error {
	if len(fields) == 0 {
		return nil
	}
	return o.shape.extend(fields)
}

// reach makes the columns before the n-th exist. A column that has the same number
// of elements in every entry is deferred to the element that begins tells.
func (o *output) reach(n int, begins func(c *schema.Column) int64) {
	if n <= o.reached {
		return
	}
	for _, c := range o.shape.Columns[o.reached:n] {
		switch {
		case c.Representation == 0 && c.PerEntry > 0:
			c.FirstElement = begins(c)
		case c.Representation > 0:
			principal := c.Owner.Columns[0][c.Index]
			c.FirstElement = -o.Sink.Elements(principal)
			if c.PerEntry > 0 {
				c.FirstElement = -c.PerEntry * o.Sink.Entries()
			}
			if int(c.ID) < len(o.first) {
				c.FirstElement = min(c.FirstElement, o.first[c.ID])
			}
			if c.FirstElement != 0 && c.PerEntry == 0 {
				o.feature(envelope.FeatureNestedDeferred)
			}
		}
		if c.FirstElement != 0 {
			c.Flags |= envelope.ColumnDeferred
		}
		stored := &o.Extension.Columns[int(c.ID)-len(o.Header.Columns)]
		stored.Flags, stored.FirstElement = c.Flags, c.FirstElement
	}
	o.Sink.AddColumns(o.shape.Columns[:n])
	o.reached = n
}

// settle makes all columns exist that do not yet.
func (o *output) settle() {
	o.reach(len(o.shape.Columns), func(c *schema.Column) int64 { return c.PerEntry * o.Sink.Entries() })
}

// feature sets a feature flag of the footer.
func (o *output) feature(n int) {
	if len(o.Features) == 0 {
		o.Features = envelope.Features{0}
	}
	o.Features[n/64] |= 1 << (n % 64)
}

// The bounds of a cluster group: as many pages have a page list of about 2 MB.
const (
	maxGroupPages    = 100_000
	maxGroupClusters = 10_000
)

// endCluster ends the cluster group if it is large.
func (o *output) endCluster() error {
	if clusters, pages := o.Sink.GroupSize(); clusters >= maxGroupClusters || pages >= o.set.groupPages {
		return o.Sink.EndGroup()
	}
	if err := o.Sink.Err(); err != nil {
		return err
	}
	return o.refused()
}

// refused returns why pages that must be shared have been copied.
func (o *output) refused() error {
	if why := o.copier.Uncloned().Refused; why != nil && o.set.most < Copy {
		return fmt.Errorf("%w: %w", errLevel, why)
	}
	return nil
}

// count corrects the report by what the file system did not share.
func (o *output) count(c *pagecopy.Copier) {
	copied := c.Uncloned()
	o.report.Levels[Share].add(-copied.Pages, -copied.Bytes)
	o.report.Levels[Copy].add(copied.Pages, copied.Bytes)
}

// wait returns when no source is in use any more.
func (o *output) wait() error {
	for _, set := range o.sets {
		if err := set.Sink.Wait(); err != nil {
			return err
		}
	}
	return o.Sink.Wait()
}

// fail ends what is written in the background.
func (o *output) fail(err error) {
	for _, set := range o.sets {
		set.Sink.Fail(err)
	}
	o.Sink.Fail(err)
}

// addSet begins an attribute set of the output, or goes on with the one there.
func (o *output) addSet(s *shape) (*output, error) {
	options, err := ntuple.NewWriteOptions(o.set.write)
	if err != nil {
		return nil, err
	}
	s.header.Writer = ntuple.WriterName()
	w, err := o.CreateSet(s.header, options)
	if err != nil {
		return nil, err
	}
	if w.Resumed {
		return resumed(w, o.set, o.report)
	}
	w.Extension = *s.ext
	return begun(w, s, o.set, o.report), nil
}

// finish writes what is left. The file must be closed after it.
func (o *output) finish() error {
	for _, set := range o.sets {
		set.settle()
	}
	o.settle()
	o.report.Entries = o.Sink.Entries()
	err := o.Close()
	o.report.ClusterGroups = len(o.Sink.Groups())
	for _, set := range o.sets {
		o.count(set.copier)
	}
	o.count(o.copier)
	return cmp.Or(err, o.refused())
}

// A port is where a field of an output comes from.
type port struct {
	src   *source
	field *schema.Field // of the source; nil: nowhere
	shift uint64        // is added to its elements, 64-bit unsigned integers

	// numbers, if not nil, is what the field has in the entries of the source
	// instead; it takes rewriting.
	numbers []uint64
}

// A wiring says where the fields of an output come from.
type wiring struct {
	out     *output
	ports   map[schema.FieldID]port // by field of the output
	sources []*source
	strands []*strand             // of the top-level fields; see slice.go
	last    []*pagesource.Cluster // that was sliced, by source
	atOnce  int64                 // entries of these that are copied at a time
}

// wire returns a wiring with the given sources, one at least. They must have the
// same number of entries.
func (o *output) wire(ports map[schema.FieldID]port, sources ...*source) *wiring {
	w := &wiring{out: o, ports: ports, sources: sources, last: make([]*pagesource.Cluster, len(sources))}
	for _, f := range o.shape.Fields {
		if f.Source == nil {
			w.strands = append(w.strands, w.strand(f))
		}
	}
	return w
}

// ports returns the ports of fields that come from one source.
func (s *source) ports(from map[schema.FieldID]*schema.Field) map[schema.FieldID]port {
	ports := map[schema.FieldID]port{}
	for id, f := range from {
		if s.part != nil {
			f = s.part.origin[f.ID]
		}
		ports[id] = port{src: s, field: f}
	}
	return ports
}

// copy appends the entries from first to end of the sources.
func (w *wiring) copy(ctx context.Context, first, end int64) error {
	for first < end {
		if err := ctx.Err(); err != nil {
			w.out.Sink.Fail(err)
			return err
		}
		clusters := make([]*pagesource.Cluster, len(w.sources))
		stop, whole := int64(math.MaxInt64), true
		for i, src := range w.sources {
			c, err := src.Source.Find(ctx, first)
			if err != nil {
				return fmt.Errorf("%s: %w", src.name, err)
			}
			clusters[i], stop = c, min(stop, c.End)
		}
		for _, c := range clusters {
			whole = whole && c.First == first && c.End == stop && stop <= end
		}
		stop = min(stop, end)
		var err error
		if whole && w.out.set.least < Rewrite && !w.small(clusters) {
			err = w.take(clusters, stop-first)
		} else if w.out.set.most < Rewrite {
			err = fmt.Errorf("%s: entries %d to %d would have to be rewritten", w.sources[0].name, first, stop)
		} else {
			err = w.slice(ctx, clusters, first, stop)
		}
		if err == nil {
			err = w.out.endCluster()
		}
		if err != nil {
			return err
		}
		first = stop
	}
	return nil
}

// small reports whether clusters are to be joined with others.
func (w *wiring) small(clusters []*pagesource.Cluster) bool {
	limit := w.out.set.minCluster
	if limit <= 0 {
		return false
	}
	for _, c := range clusters {
		_, bytes := stored(c)
		limit -= bytes
	}
	return limit > 0
}

// stored returns the number of pages of a cluster, and their bytes.
func stored(c *pagesource.Cluster) (n, bytes int64) {
	for _, list := range c.Columns() {
		for _, p := range list.Pages {
			n, bytes = n+1, bytes+int64(p.StoredSize())
		}
	}
	return n, bytes
}

// cluster returns that of clusters which a source has.
func (w *wiring) cluster(src *source, clusters []*pagesource.Cluster) *pagesource.Cluster {
	return clusters[slices.Index(w.sources, src)]
}

// errLevel says that a page needs a higher level than allowed.
var errLevel = errors.New("the level is not allowed")
