package rntuple

import (
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pages"
	"github.com/go-rntuple/go-rntuple/internal/raw"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/internal/wire"
	"github.com/go-rntuple/go-rntuple/locator"
)

// What package surgery needs of Readers and Files.
func init() {
	raw.InputOf = func(r any) *raw.Input {
		c := &r.(*Reader).core
		return &raw.Input{Anchor: c.anchor, Header: c.header, Footer: c.footer, Source: c.src, Legacy: c.anchor.Epoch == 0}
	}
	raw.OpenSet = func(r any, name string) (any, error) {
		set, err := r.(*Reader).OpenAttributes(name)
		if err != nil {
			return nil, err
		}
		return set.set, nil
	}
	raw.Begin = func(f any, dir string, h *envelope.Header, ext *envelope.Schema, opts any) (*raw.Output, error) {
		config, err := newWriteConfig(opts.([]WriteOption))
		if err != nil {
			return nil, err
		}
		return beginRaw(f.(*File), dir, h, ext, config)
	}
	raw.Update = func(rw rootfile.ReadWriterAt, size int64, opts any) (any, error) {
		return update(rw, size, opts.([]WriteOption))
	}
	raw.Resume = func(f, r any, dir string, opts any) (*raw.Output, error) {
		config, err := newWriteConfig(opts.([]WriteOption))
		if err != nil {
			return nil, err
		}
		return resumeRaw(f.(*File), r.(*Reader), dir, config)
	}
}

// beginRaw begins an RNTuple with the given header and schema extension.
func beginRaw(f *File, dir string, h *envelope.Header, ext *envelope.Schema, config *writeConfig) (*raw.Output, error) {
	w := &ntuple{file: f, dir: dir, name: h.Name, header: *h, extension: *ext}
	w.header.Writer = writerName()
	if err := w.writeHeader(config); err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", h.Name, err)
	}
	f.open++
	o := w.raw()
	o.AddSet = func(h *envelope.Header) (*raw.Output, error) { return w.addSet(h, config) }
	return o, nil
}

// addSet begins an attribute set with the given header.
func (w *ntuple) addSet(h *envelope.Header, config *writeConfig) (*raw.Output, error) {
	set := &ntuple{file: w.file, name: h.Name, header: *h}
	set.header.Writer = writerName()
	if err := set.writeHeader(config); err != nil {
		return nil, fmt.Errorf("attribute set %q: %w", h.Name, err)
	}
	w.sets = append(w.sets, set)
	o := set.raw()
	o.Close = func() error { return nil }
	return o, nil
}

// raw returns w in the form of package raw.
func (w *ntuple) raw() *raw.Output {
	return &raw.Output{Sink: w.sink, Header: &w.header, Extension: &w.extension, Features: &w.features, Close: w.Close}
}

// resumeRaw goes on with the RNTuple that r reads.
func resumeRaw(f *File, r *Reader, dir string, config *writeConfig) (*raw.Output, error) {
	w, err := resumeNtuple(f, r, dir, config)
	if err != nil {
		return nil, err
	}
	f.open++
	o := w.raw()
	o.Resumed = true
	o.AddSet = func(h *envelope.Header) (*raw.Output, error) {
		i := slices.IndexFunc(w.linked, func(s envelope.AttributeSet) bool { return s.Name == h.Name })
		if i < 0 {
			return w.addSet(h, config)
		}
		a, err := r.OpenAttributes(h.Name)
		if err != nil {
			return nil, err
		}
		set, err := resume(f, a.set, config)
		if err != nil {
			return nil, fmt.Errorf("attribute set %q: %w", h.Name, err)
		}
		w.linked = slices.Delete(w.linked, i, i+1)
		w.sets = append(w.sets, set)
		o := set.raw()
		o.Resumed, o.Close = true, func() error { return nil }
		return o, nil
	}
	return o, nil
}

// resumeNtuple goes on with the RNTuple that r reads, which links to the same
// attribute sets.
func resumeNtuple(f *File, r *Reader, dir string, config *writeConfig) (*ntuple, error) {
	fail := func(err error) (*ntuple, error) { return nil, fmt.Errorf("RNTuple %q: %w", r.Name(), err) }
	if r.anchor.Epoch == 0 {
		return fail(wire.Unsupported("the format %s is only read", r.version))
	}
	if h := r.src.Schema.Hidden; len(h) > 0 {
		return fail(fmt.Errorf("field %q cannot be read: %w", h[0].Field.Name, h[0].Err))
	}
	w, err := resume(f, r, config)
	if err != nil {
		return fail(err)
	}
	w.dir = dir
	w.linked = slices.Clone(r.footer.AttributeSets)
	return w, nil
}

// resume goes on with the RNTuple that r reads: header, pages and page lists stay
// where they are.
func resume(f *File, r *Reader, config *writeConfig) (*ntuple, error) {
	w := &ntuple{file: f, name: r.Name(), header: *r.header, schema: r.src.Schema, features: r.footer.Features}
	if r.footer.Extension != nil {
		w.extension = *r.footer.Extension
	}
	w.link = locator.Link{Length: r.anchor.LenHeader, Locator: locator.At(r.anchor.SeekHeader, r.anchor.NBytesHeader)}
	settings := config.pages
	settings.MaxKeySize = r.anchor.MaxKeySize // there is one for all pages
	w.sink = pages.NewSink(config.ctx, f.pages, settings, r.footer.HeaderChecksum)
	w.sink.AddColumns(w.schema.Columns)
	elements, err := elementsOf(r)
	if err != nil {
		return nil, err
	}
	w.sink.Resume(r.NumEntries(), r.footer.ClusterGroups, elements)
	return w, nil
}

// elementsOf returns how many elements each column has in all clusters.
func elementsOf(r *Reader) ([]int64, error) {
	elements := make([]int64, len(r.src.Schema.Columns))
	if r.NumEntries() == 0 {
		return elements, nil
	}
	last, err := r.src.Find(r.ctx, r.NumEntries()-1)
	if err != nil {
		return nil, err
	}
	for i, c := range r.src.Schema.Columns {
		principal := c.Owner.Columns[0][c.Index]
		if c.PerEntry > 0 {
			elements[principal.ID] = c.PerEntry * r.NumEntries()
		} else if stored := last.Columns(); i < len(stored) && !stored[i].IsSuppressed() {
			elements[principal.ID] = stored[i].ElementOffset + elementCount(stored[i])
		}
	}
	for i, c := range r.src.Schema.Columns {
		elements[i] = elements[c.Owner.Columns[0][c.Index].ID]
	}
	return elements, nil
}

func elementCount(p envelope.ColumnPages) (n int64) {
	for _, page := range p.Pages {
		n += int64(page.NumElements)
	}
	return n
}
