package zone

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Recorder writes the zone map of an RNTuple that is being written.
type Recorder struct {
	Schema func() *schema.Schema // the present one of the RNTuple
	// Lenient makes it no error that the RNTuple has a zone map of another form. Then
	// nothing is written.
	Lenient bool

	w       *ntuple.Writer
	options *ntuple.WriteOptions
	tracked []schema.ColumnID // the first columns of fields
	set     *ntuple.Writer    // nil until there is something to write
	off     bool              // nothing can be written
	plan    *field.WritePlan
}

// NewRecorder returns a Recorder for w. If w continues an RNTuple that has a zone map, it
// continues that, too. The options are those of w.
func NewRecorder(w *ntuple.Writer, o *ntuple.WriteOptions) *Recorder {
	return &Recorder{Schema: func() *schema.Schema { return w.Schema }, w: w, options: o}
}

// Track records the bounds of a field of the schema, which KindOf must know, in the clusters
// that begin after the call.
func (r *Recorder) Track(f *schema.Field) {
	id := f.Columns[0][0].ID
	if slices.Contains(r.tracked, id) {
		return
	}
	r.tracked = append(r.tracked, id)
	for _, columns := range f.Columns {
		r.w.Sink.Track(columns[0].ID)
	}
	r.w.Sink.Written = r.written
}

// written records the bounds of a cluster that is in the file.
func (r *Recorder) written(c envelope.Cluster, columns []envelope.ColumnPages, found []zonemap.Bounds) error {
	cluster := pagesource.NewCluster(-1, c, columns)
	s := r.Schema()
	for _, id := range r.tracked {
		f := s.Columns[id].Owner
		chunk, err := cluster.Chunk(f, 0)
		if err != nil {
			return err
		}
		k := KindOf(f)
		b := bounds.None(k)
		if chunk.Zeros > 0 {
			b = Zeros(k)
		}
		if len(chunk.Pages) > 0 {
			b = b.Join(found[chunk.Column.ID])
		}
		if b.Kind == zonemap.Unknown {
			continue
		}
		if err := r.Add(cluster, f, b); err != nil {
			return err
		}
	}
	return nil
}

// Add records the bounds of a field in a cluster whose pages have their places.
func (r *Recorder) Add(c *pagesource.Cluster, f *schema.Field, b zonemap.Bounds) error {
	if c.First == c.End || r.off {
		return nil
	}
	chunk, err := c.Chunk(f, 0)
	if err != nil {
		return err
	}
	if r.set == nil {
		if err := r.begin(); err != nil {
			if r.off = r.Lenient; r.off {
				return nil
			}
			return fmt.Errorf("zone map: %w", err)
		}
	}
	a := attribute{Start: uint64(c.First), Len: uint64(c.End - c.First), Data: newRecord(f, placesOf(chunk), b)}
	if err := r.plan.Write(unsafe.Pointer(&a), 1); err != nil {
		return err
	}
	return r.set.Sink.EndEntries(1)
}

// begin begins the attribute set, or continues it.
func (r *Recorder) begin() error {
	doc, err := field.Model(zonemap.SetName, reflect.TypeFor[attribute]())
	if err != nil {
		return err
	}
	doc.Description = description
	described, err := doc.Describe(r.options.Pages.Compression.Level() > 0)
	if err != nil {
		return err
	}
	header := &envelope.Header{Name: zonemap.SetName, Description: description,
		Writer: ntuple.WriterName(), Schema: *described}
	extension := envelope.Schema{ExtraTypes: header.ExtraTypes} // where ROOT has them
	header.ExtraTypes = nil
	set, err := r.w.CreateSet(header, r.options)
	if err != nil {
		return err
	}
	if !set.Resumed {
		set.Extension = extension
	}
	plan, err := field.NewOutlets(set.Sink).CompileEntries(set.Schema.Fields, reflect.TypeFor[attribute]())
	if err != nil {
		return err
	}
	r.set, r.plan = set, plan
	return nil
}
