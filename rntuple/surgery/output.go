package surgery

import (
	"cmp"
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagecopy"
	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/schema"
)

// The bounds of a cluster group: the page list of as many pages has about 2 MB.
const (
	maxGroupPages    = 100_000
	maxGroupClusters = 10_000
)

// An output is an RNTuple that is made of entries of others.
type output struct {
	*ntuple.Writer
	copier  *pagecopy.Copier // to its Sink
	shape   *shape
	options *config
	report  *Report
	reached int                    // columns that exist; later ones have had only zeros
	fillers []*filler              // of the columns that exist
	active  map[schema.FieldID]int // representation that elements are written in, if not 0
	first   []int64                // FirstElement of further representations in the first input, by column
	sets    map[string]*output
	outlets *field.Outlets // of the fields that are defined
	zones   *zone.Recorder // nil for attribute sets
}

// A filler appends elements to a column; one of its members is set when elements are
// first copied.
type filler struct {
	elements pagecopy.Elements
	offsets  *pagecopy.Offsets
	tags     *pagecopy.Tags
}

// newOutput returns the output that w writes. If w is new it gets the given schema;
// otherwise what w has stays in place.
func (r *run) newOutput(w *ntuple.Writer, s *shape) (*output, error) {
	o := &output{
		Writer: w, copier: pagecopy.NewCopier(r.write.Context, w.Sink), shape: s, options: &r.config, report: &r.report,
		active: map[schema.FieldID]int{}, sets: map[string]*output{}, outlets: field.NewOutlets(w.Sink),
	}
	if w.Resumed {
		o.shape = &shape{Header: &w.Header, Extension: &w.Extension}
		if err := o.shape.build(); err != nil {
			return nil, err
		}
		o.reached = len(o.shape.Columns)
		return o, nil
	}
	w.Extension = *s.Extension
	s.Extension = &w.Extension
	o.reached = len(s.Header.Columns)
	return o, nil
}

// beginSet begins an attribute set of the output, or resumes the one of that name.
func (r *run) beginSet(set *source, name string) (*output, error) {
	s, err := set.shape()
	if err != nil {
		return nil, err
	}
	s.Header.Name, s.Header.Writer = name, ntuple.WriterName()
	w, err := r.out.CreateSet(s.Header, r.write)
	if err != nil {
		return nil, err
	}
	return r.newOutput(w, s)
}

// keepFirst keeps where the further representations of the first input begin.
func (o *output) keepFirst(src *source) {
	for _, c := range src.schema().Columns {
		first := int64(0)
		if c.Representation > 0 {
			first = c.FirstElement
		}
		o.first = append(o.first, first)
	}
}

// reach creates the columns before the n-th. A column that has the same number of
// elements in every entry is deferred to the element that begins returns.
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
				o.setFeature(envelope.FeatureNestedDeferred)
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

// settle creates all columns that do not exist yet.
func (o *output) settle() {
	o.reach(len(o.shape.Columns), func(c *schema.Column) int64 { return c.PerEntry * o.Sink.Entries() })
}

// setFeature sets a feature flag of the footer.
func (o *output) setFeature(n int) {
	if len(o.Features) == 0 {
		o.Features = envelope.Features{0}
	}
	o.Features[n/64] |= 1 << (n % 64)
}

// endCluster ends the cluster group if it is large.
func (o *output) endCluster() error {
	if clusters, pages := o.Sink.GroupSize(); clusters >= maxGroupClusters || pages >= o.options.groupPages {
		return o.Sink.EndGroup()
	}
	return cmp.Or(o.Sink.Err(), o.refused())
}

// refused returns why pages that must be cloned have been copied.
func (o *output) refused() error {
	if why := o.copier.Uncloned().Refused; why != nil && o.options.most < Copy {
		return fmt.Errorf("%w: %w", errLevel, why)
	}
	return nil
}

// count corrects the report by what the file system did not clone.
func (o *output) count(c *pagecopy.Copier) {
	copied := c.Uncloned()
	o.report.Levels[Clone].add(-copied.Pages, -copied.Bytes)
	o.report.Levels[Copy].add(copied.Pages, copied.Bytes)
}

// wait returns when no source is in use any more.
func (o *output) wait() error {
	var err error
	for _, set := range o.sets {
		err = cmp.Or(set.Sink.Wait(), err)
	}
	return cmp.Or(o.Sink.Wait(), err)
}

// fail ends what is written in the background. No source is in use after it.
func (o *output) fail(err error) {
	for _, set := range o.sets {
		set.Sink.Fail(err)
	}
	o.Sink.Fail(err)
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

// filler returns what fills a column.
func (o *output) filler(c *schema.Column) (f *filler, err error) {
	for len(o.fillers) <= int(c.ID) {
		o.fillers = append(o.fillers, &filler{})
	}
	f = o.fillers[c.ID]
	switch {
	case f.elements != nil || f.offsets != nil || f.tags != nil:
	case c.Type.IsIndex():
		f.offsets, err = pagecopy.NewOffsets(o.Sink, c)
	case c.Type == column.Switch:
		f.tags, err = pagecopy.NewTags(o.Sink, c, len(c.Owner.Children))
	default:
		f.elements, err = pagecopy.NewElements(o.Sink, c)
	}
	return f, err
}

// exactRepresentation returns the representation of a field to write zeros and
// values of representation r in. It is r unless that is quantized, which may only
// come near to zero, and there is one that is not.
func (o *output) exactRepresentation(f *schema.Field, r int) int {
	from := f.Columns[r][0].Format()
	if from.Type != column.Real32Quant {
		return r
	}
	for exact, columns := range f.Columns {
		c := columns[0]
		if int(c.ID) < o.reached && c.Type != column.Real32Quant && fits(from, c.Format(), true, false) {
			return exact
		}
	}
	return r
}

// storedFields returns all fields that have columns of their own, at any depth.
func (o *output) storedFields() []*schema.Field {
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
