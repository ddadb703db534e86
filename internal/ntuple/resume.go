package ntuple

import (
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
)

// Resume returns a Writer that continues the RNTuple that r, which was opened after f, reads
// from the same file. What r reads stays, as an older cycle; r must stay open until the Writer
// is closed.
func (f *File) Resume(r *Reader, o *WriteOptions) (*Writer, error) {
	w, err := f.resume(r, o)
	if err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", r.Header.Name, err)
	}
	f.open++
	f.root.SetCompression(o.File.Compression)
	return w, nil
}

func (f *File) resume(r *Reader, o *WriteOptions) (*Writer, error) {
	if r.Legacy() {
		return nil, frame.Unsupported("RNTuples of format %s can only be read", r.Version)
	}
	if h := r.Source.Schema.Hidden; len(h) > 0 {
		return nil, fmt.Errorf("field %q cannot be read: %w", h[0].Field.Name, h[0].Err)
	}
	path, _ := rootfile.SplitCycle(r.Path)
	w := &Writer{
		file: f, path: path, Header: *r.Header, Schema: r.Source.Schema, Features: r.Footer.Features,
		Resumed: true, source: r, linked: slices.Clone(r.Footer.AttributeSets),
	}
	if r.Footer.Extension != nil {
		w.Extension = *r.Footer.Extension
	}
	w.header = r.Anchor.Header()
	settings := o.Pages
	settings.MaxKeySize = r.Anchor.MaxKeySize // it applies to all pages
	w.Sink = pagesink.NewSink(o.Context, f.pages, settings, r.Footer.HeaderChecksum)
	w.Sink.AddColumns(w.Schema.Columns)
	elements, err := elementsOf(r)
	if err != nil {
		return nil, err
	}
	groups := groupsOf(r)
	for i := range groups {
		groups[i].Read = func() ([]byte, error) {
			return r.Source.Envelope(r.Options.Context, "page list", groups[i].PageList)
		}
	}
	w.Sink.Resume(r.Source.Entries, groups, elements)
	return w, nil
}

// groupsOf returns the cluster groups of an RNTuple, which may not be merged.
func groupsOf(r *Reader) []pagesink.Group {
	groups := make([]pagesink.Group, len(r.Footer.ClusterGroups))
	for i, g := range r.Footer.ClusterGroups {
		groups[i].ClusterGroup = g
	}
	return groups
}

// resumeSet returns a Writer that continues a linked attribute set.
func (w *Writer) resumeSet(name string, o *WriteOptions) (*Writer, error) {
	r, err := w.source.OpenSet(name)
	if err != nil {
		return nil, err
	}
	set, err := w.file.resume(r, o)
	if err == nil {
		set.parent = w
	}
	return set, err
}

// elementsOf returns the number of elements of each column in all clusters.
func elementsOf(r *Reader) ([]int64, error) {
	columns, entries := r.Source.Schema.Columns, r.Source.Entries
	elements := make([]int64, len(columns))
	if entries == 0 {
		return elements, nil
	}
	last, err := r.Source.Find(r.Options.Context, entries-1)
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		principal := c.Owner.Columns[0][c.Index]
		if c.PerEntry > 0 {
			elements[principal.ID] = c.PerEntry * entries
		} else if stored := last.Columns(); i < len(stored) && !stored[i].IsSuppressed() {
			n := stored[i].ElementOffset
			for _, page := range stored[i].Pages {
				n += int64(page.NumElements)
			}
			elements[principal.ID] = n
		}
	}
	for i, c := range columns {
		elements[i] = elements[c.Owner.Columns[0][c.Index].ID]
	}
	return elements, nil
}

// Rename rewrites the metadata of the RNTuple that r, which was opened after f, reads from the
// same file, with a header and a schema extension that differ from its own only in names. Pages
// stay where they are. If sets is not nil it may change the attribute sets.
func (f *File) Rename(r *Reader, h *envelope.Header, ext *envelope.Schema, o *WriteOptions,
	sets func(*Writer) error) error {
	w := &Writer{file: f, path: h.Name, Header: *h, Extension: *ext, Features: r.Footer.Features,
		linked: slices.Clone(r.Footer.AttributeSets)}
	f.root.SetCompression(o.File.Compression)
	options := *o
	options.Pages.MaxKeySize = r.Anchor.MaxKeySize // it applies to all pages
	if err := w.writeHeader(&options); err != nil {
		return err
	}
	groups := groupsOf(r)
	for i := range groups {
		if err := w.adopt(r, &groups[i].ClusterGroup); err != nil {
			return fmt.Errorf("cluster group %d: %w", i, err)
		}
	}
	w.Sink.Resume(r.Source.Entries, groups, nil)
	return f.replace(r, w, sets)
}

// Relink gives the RNTuple that r, which was opened after f, reads from the same file a new
// footer, with what sets makes of the attribute sets. All else stays where it is.
func (f *File) Relink(r *Reader, o *WriteOptions, sets func(*Writer) error) error {
	w, err := f.resume(r, o)
	if err != nil {
		return fmt.Errorf("RNTuple %q: %w", r.Header.Name, err)
	}
	f.root.SetCompression(o.File.Compression)
	return f.replace(r, w, sets)
}

// replace lists the RNTuple that w writes in place of the one that r reads.
func (f *File) replace(r *Reader, w *Writer, sets func(*Writer) error) error {
	if sets != nil {
		if err := sets(w); err != nil {
			return err
		}
	}
	object, _, err := w.anchorObject()
	if err != nil {
		return err
	}
	_, err = f.root.Rename(r.Path, object, anchor.ClassName, anchor.ExperimentalClassName)
	return err
}

// Unlink removes the link to an attribute set that the RNTuple had before w, if there is one.
func (w *Writer) Unlink(set string) {
	w.linked = slices.DeleteFunc(w.linked, func(s envelope.AttributeSet) bool { return s.Name == set })
}

// adopt writes the page list of a cluster group of r again, for the header of w.
func (w *Writer) adopt(r *Reader, g *envelope.ClusterGroup) error {
	b, err := r.Source.Envelope(r.Options.Context, "page list", g.PageList)
	if err != nil {
		return err
	}
	list, err := envelope.ParsePageList(b)
	if err != nil {
		return err
	}
	list.HeaderChecksum = w.Sink.HeaderChecksum()
	if b, err = list.Append(nil); err != nil {
		return err
	}
	g.PageList, err = pagesink.WriteEnvelope(w.file.pages, b, w.Sink.Settings())
	return err
}
