package ntuple

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Writer writes one RNTuple. The Sink takes the elements of its columns; the Writer adds
// header, footer, attribute sets and the anchor.
type Writer struct {
	Sink   *pagesink.Sink
	Schema *schema.Schema // of Header and Extension

	// Header has been written and must not be changed. Extension and Features are
	// written to the footer.
	Header    envelope.Header
	Extension envelope.Schema
	Features  envelope.Features

	Resumed bool // it continues an existing RNTuple

	// Extended, if not nil, is called when fields have been added to the schema, and their
	// columns to the sink.
	Extended func() error

	file   *File
	path   string                  // in the file
	header locator.Link            // where it was written
	anchor *rootfile.Key           // nil until it is listed
	placed envelope.AttributeSet   // of an attribute set: the link to its anchor; zero until it is written
	footer []byte                  // as it was written last, uncompressed; nil if the file has none
	link   locator.Link            // where it was written
	parent *Writer                 // of an attribute set, or nil
	sets   []*Writer               // attribute sets being written
	linked []envelope.AttributeSet // existing attribute sets
	source *Reader                 // the RNTuple that is resumed, or nil
	closed bool

	allowHidden bool
}

// ErrClosed is the error of a writer that is used after Close.
var ErrClosed = errors.New("the writer is closed")

// Create begins an RNTuple with the given header at a path of the file,
// "dir/sub/name".
func (f *File) Create(path string, h *envelope.Header, o *WriteOptions) (*Writer, error) {
	w := &Writer{file: f, path: path, Header: *h}
	if err := w.writeHeader(o); err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", path, err)
	}
	f.open++
	return w, nil
}

// CreateSet begins an attribute set of the RNTuple with the given header. If the
// RNTuple is resumed and has a set of that name, it resumes the set. The set is
// closed with w.
func (w *Writer) CreateSet(h *envelope.Header, o *WriteOptions) (set *Writer, err error) {
	linked := slices.IndexFunc(w.linked, func(s envelope.AttributeSet) bool { return s.Name == h.Name })
	if linked < 0 {
		set = &Writer{file: w.file, path: h.Name, parent: w, Header: *h}
		err = set.writeHeader(o)
	} else {
		set, err = w.resumeSet(h.Name, o)
	}
	if err != nil {
		return nil, fmt.Errorf("attribute set %q: %w", h.Name, err)
	}
	if linked >= 0 {
		w.linked = slices.Delete(w.linked, linked, linked+1)
	}
	w.sets = append(w.sets, set)
	return set, nil
}

// SplitPath splits a path in a file into the directory and the name.
func SplitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return strings.Trim(path[:i+1], "/"), path[i+1:]
}

// HasSet reports whether the RNTuple has an attribute set of the given name.
func (w *Writer) HasSet(name string) bool {
	return slices.ContainsFunc(w.sets, func(s *Writer) bool { return s.Header.Name == name }) ||
		slices.ContainsFunc(w.linked, func(s envelope.AttributeSet) bool { return s.Name == name })
}

// WriterName returns the name of the writer for headers.
func WriterName() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		const module = "github.com/go-rntuple/go-rntuple"
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == module && m.Version != "" && m.Version != "(devel)" {
				return "go-rntuple " + m.Version
			}
		}
	}
	return "go-rntuple"
}

// Context returns the context of the file.
func (w *Writer) Context() context.Context { return w.file.ctx }

// writeHeader writes the header and makes the sink with its columns.
func (w *Writer) writeHeader(o *WriteOptions) error {
	if _, cycle := rootfile.SplitCycle(w.path); cycle >= 0 && w.parent == nil {
		return fmt.Errorf("the name ends in a cycle, ;%d, which no new RNTuple may have: no reader would find it", cycle)
	}
	b, err := w.Header.Append(nil)
	if err != nil {
		return err
	}
	w.allowHidden = o.AllowHidden
	if err := w.build(nil); err != nil {
		return err
	}
	if w.header, err = pagesink.WriteEnvelope(w.file.pages, b, o.Pages); err != nil {
		return err
	}
	w.Sink = pagesink.NewSink(o.Context, w.file.pages, o.Pages, envelope.Checksum(b))
	w.Sink.AddColumns(w.Schema.Columns)
	return nil
}

// Extend adds fields, columns and aliases to the schema, and columns to the sink.
func (w *Writer) Extend(added *envelope.Schema) error {
	ext := w.Extension
	ext.Fields = slices.Concat(ext.Fields, added.Fields)
	ext.Columns = slices.Concat(ext.Columns, added.Columns)
	ext.Aliases = slices.Concat(ext.Aliases, added.Aliases)
	if err := w.build(&ext); err != nil {
		return err
	}
	w.Extension = ext
	w.Sink.AddColumns(w.Schema.Columns)
	if w.Extended != nil {
		return w.Extended()
	}
	return nil
}

// build makes the schema of the header and an extension.
func (w *Writer) build(ext *envelope.Schema) error {
	s, err := schema.Build(&w.Header, ext)
	if err != nil {
		return err
	}
	if len(s.Hidden) > 0 && !w.allowHidden {
		return fmt.Errorf("field %q: %w", s.Hidden[0].Field.Name, s.Hidden[0].Err)
	}
	w.Schema = s
	return nil
}

// Err returns the error that all further calls return: ErrClosed after Close, otherwise the
// first error of the sink.
func (w *Writer) Err() error {
	if w.closed {
		return ErrClosed
	}
	return w.Sink.Err()
}

// FileSize returns the size of the file; see File.Size.
func (w *Writer) FileSize() int64 { return w.file.Size() }

// Checkpoint ends the current cluster and cluster group and commits the file with
// all entries written so far.
func (w *Writer) Checkpoint() error {
	if err := w.Err(); err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return err
	}
	return w.file.Commit()
}

// finish writes the footer and lists the anchor, unless the file has both.
func (w *Writer) finish() error {
	o, changed, err := w.anchorObject()
	if err != nil || !changed {
		return err
	}
	dir, _ := SplitPath(w.path)
	w.file.mu.Lock()
	defer w.file.mu.Unlock()
	var key rootfile.Key
	if w.anchor == nil {
		key, err = w.file.root.Object(dir, o)
	} else {
		key, err = w.file.root.Replace(dir, *w.anchor, o)
	}
	w.anchor = &key
	return err
}

// anchorObject writes the remaining pages and page lists, the attribute sets and the footer.
// It returns the anchor, if the footer has changed. The space of what is replaced becomes
// free.
func (w *Writer) anchorObject() (o rootfile.Object, changed bool, err error) {
	if err := w.Sink.Checkpoint(); err != nil {
		return o, false, err
	}
	footer := envelope.Footer{
		Features:       w.Features,
		HeaderChecksum: w.Sink.HeaderChecksum(),
		Extension:      &w.Extension,
		ClusterGroups:  w.Sink.Groups(),
		AttributeSets:  append([]envelope.AttributeSet{}, w.linked...),
	}
	for _, set := range w.sets {
		link, err := set.finishSet()
		if err != nil {
			return o, false, fmt.Errorf("attribute set %q: %w", set.Header.Name, err)
		}
		footer.AttributeSets = append(footer.AttributeSets, link)
	}
	b, err := footer.Append(nil)
	if err != nil || bytes.Equal(b, w.footer) {
		return o, false, err
	}
	link, err := w.Sink.Envelope(b)
	if err != nil {
		return o, false, err
	}
	for _, old := range append(w.Sink.Superseded(), w.link) {
		if err := w.freeRecord(rootfile.BlobClassName, "", old.Locator); err != nil {
			return o, false, err
		}
	}
	w.footer, w.link = b, link
	settings := w.Sink.Settings()
	object, err := anchor.New(w.header, link, settings.MaxKeySize).Append(nil)
	if err != nil {
		return o, false, err
	}
	_, name := SplitPath(w.path)
	stored, err := compress.Append(nil, object, settings.Compression)
	return rootfile.Object{Class: anchor.ClassName, Name: name, Stored: stored, Len: len(object)}, true, err
}

// freeRecord gives the space of a record free whose payload is at l.
func (w *Writer) freeRecord(class, name string, l locator.Locator) error {
	if l.Size == 0 {
		return nil
	}
	top := w
	for top.parent != nil {
		top = top.parent
	}
	dir, _ := SplitPath(top.path)
	w.file.mu.Lock()
	defer w.file.mu.Unlock()
	return w.file.root.Free(dir, class, name, int64(l.Offset), int64(l.Size))
}

// finishSet writes the footer and the anchor of an attribute set, unless the file has both,
// and returns the link to it.
func (w *Writer) finishSet() (link envelope.AttributeSet, err error) {
	o, changed, err := w.anchorObject()
	if err != nil || !changed {
		return w.placed, err
	}
	w.file.mu.Lock()
	at, err := w.file.root.Unlisted(o)
	w.file.mu.Unlock()
	if err != nil {
		return link, err
	}
	if err := w.freeRecord(anchor.ClassName, w.Header.Name, w.placed.Anchor); err != nil {
		return link, err
	}
	w.placed = envelope.AttributeSet{
		SchemaMajor: 1, AnchorLength: uint32(o.Len), Anchor: locator.At(uint64(at), uint64(len(o.Stored))),
		Name: w.Header.Name,
	}
	return w.placed, nil
}

// Discard gives up an RNTuple or an attribute set that was begun, not resumed, and has no
// entries yet. The file, or the RNTuple that the set belongs to, goes on without it.
func (w *Writer) Discard() {
	w.closed = true
	if w.parent != nil {
		w.parent.sets = slices.DeleteFunc(w.parent.sets, func(set *Writer) bool { return set == w })
		return
	}
	w.file.open--
}

// Abort discards everything written since the last checkpoint.
func (w *Writer) Abort() error {
	if w.closed {
		return ErrClosed
	}
	w.Sink.Fail(errAborted)
	if err := w.Close(); !errors.Is(err, errAborted) {
		return err
	}
	return nil
}

// Close writes the remaining data and lists the RNTuple in the file, which must be closed
// afterwards. An error becomes that of the file as well.
func (w *Writer) Close() error {
	if w.closed {
		return ErrClosed
	}
	w.closed = true
	for _, set := range w.sets {
		set.closed = true
	}
	w.file.open--
	err := w.Sink.EndForks()
	if err == nil && w.file.err == nil {
		w.file.err = w.file.look() // what is written now may use free space
	}
	if w.file.err != nil {
		return w.file.err
	}
	if err == nil {
		err = w.finish()
	}
	if err == nil {
		for _, set := range w.sets {
			set.Sink.Release()
		}
		w.Sink.Release()
		return nil
	}
	w.file.err = fmt.Errorf("RNTuple %q: %w", w.Header.Name, err)
	return w.file.err
}
