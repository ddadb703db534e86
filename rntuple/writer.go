package rntuple

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/pages"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// A Writer writes one RNTuple, entry by entry, from values of type T. It serves
// one goroutine at a time. Its errors are sticky: after the first one it does
// nothing more, and Close returns it.
type Writer[T any] struct {
	ntuple
	plan *field.WritePlan
}

// ntuple is what writers of all types have.
type ntuple struct {
	file      *File
	owned     bool   // the file is closed with the writer
	dir, name string // in the file
	header    envelope.Header
	extension envelope.Schema
	features  envelope.Features // of the footer
	schema    *schema.Schema
	sink      *pages.Sink
	outlets   *field.Outlets
	link      locator.Link            // of the header
	anchor    *rootfile.Key           // once it is written
	sets      []*ntuple               // its attribute sets
	linked    []envelope.AttributeSet // others, which the file has already
	closed    bool
}

// Create creates a ROOT file at path with one RNTuple whose fields are those of
// the struct T. The name may lead through directories: "dir/sub/name".
//
// Go types become C++ types as the package comment says, slices vectors, arrays
// std::array, pointers std::optional, maps std::map. Structs are untyped records
// where the format allows that, else classes of the struct's name. Tags say more:
//
//	`rntuple:"pt"`                           the name; else it is that of the Go field
//	`rntuple:"q,type=char"`                  the C++ type, of those in the standard library
//	`rntuple:"vertex,class=Vertex"`          the C++ class of a struct
//	`rntuple:"color,enum=Color"`             an enum with the underlying type of the field
//	`rntuple:"pt,encoding=Real16"`           the type of the column
//	`rntuple:"pt,trunc=16"`                  the upper 16 bits of a float; cut, not rounded
//	`rntuple:"eta,quant=12,min=-5,max=5"`    12 bits for the range, outside of which is an error
//	`rntuple:"pt,desc=transverse momentum"`  the description, the last option
//	`rntuple:"-"`                            not written
//
// A Go type that none fits, such as a variant, is written from fields of type any
// with a type= in the tag, see package value. Structs embedded without a tag count
// as if their fields were T's.
//
// The error lists everything that is wrong with T and its tags.
func Create[T any](path, name string, opts ...WriteOption) (*Writer[T], error) {
	f, err := CreateFile(path, opts...)
	if err != nil {
		return nil, err
	}
	return owning(f, func() (*Writer[T], error) { return NewWriter[T](f, name, opts...) })
}

// CreateRecords is Create for entries without a Go type: the schema is that of a
// document, entries are dynamic values.
func CreateRecords(path, name string, doc *schema.Document, opts ...WriteOption) (*Writer[value.Record], error) {
	f, err := CreateFile(path, opts...)
	if err != nil {
		return nil, err
	}
	return owning(f, func() (*Writer[value.Record], error) { return NewRecordWriter(f, name, doc, opts...) })
}

// owning makes a writer that closes its file.
func owning[T any](f *File, begin func() (*Writer[T], error)) (*Writer[T], error) {
	w, err := begin()
	if err != nil {
		f.Abort()
		return nil, err
	}
	w.owned = true
	return w, nil
}

// NewWriter begins an RNTuple in a file. See Create.
func NewWriter[T any](f *File, name string, opts ...WriteOption) (*Writer[T], error) {
	_, last := splitPath(name)
	doc, err := model(last, reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return newWriter[T](f, name, doc, opts)
}

// NewRecordWriter begins an RNTuple of dynamic values in a file. See
// CreateRecords.
func NewRecordWriter(f *File, name string, doc *schema.Document, opts ...WriteOption) (*Writer[value.Record], error) {
	return newWriter[value.Record](f, name, doc, opts)
}

func newWriter[T any](f *File, name string, doc *schema.Document, opts []WriteOption) (*Writer[T], error) {
	w := &Writer[T]{}
	if err := w.begin(f, name, doc, opts); err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", name, err)
	}
	if err := w.compile(); err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", name, err)
	}
	f.open++
	return w, nil
}

// model returns the schema of a Go type. The error lists all that is wrong with
// type, tags and names.
func model(name string, t reflect.Type) (*schema.Document, error) {
	doc, err := field.Model(name, t)
	var problems *schema.DocumentError
	if errors.As(err, &problems) && len(doc.Fields) > 0 {
		var more *schema.DocumentError
		if _, err := doc.Describe(true); errors.As(err, &more) {
			problems.Problems = append(problems.Problems, more.Problems...)
		}
	}
	return doc, err
}

func splitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return strings.TrimSuffix(path[:i+1], "/"), path[i+1:]
}

// writerName is what headers say about who wrote the data.
func writerName() string {
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

// begin writes the header. The name of the RNTuple is that of the path.
func (w *ntuple) begin(f *File, path string, doc *schema.Document, opts []WriteOption) error {
	config, err := newWriteConfig(opts)
	if err != nil {
		return err
	}
	w.file = f
	w.dir, w.name = splitPath(path)
	named := *doc
	named.Name = w.name
	compressed := config.pages.Compression.Level() > 0
	if err := project(&named, config.projections, compressed); err != nil {
		return err
	}
	described, err := named.Describe(compressed)
	if err != nil {
		return err
	}
	w.header = envelope.Header{Name: w.name, Description: doc.Description, Writer: writerName(), Schema: *described}
	if config.description != "" {
		w.header.Description = config.description
	}
	// ROOT has what else it knows of types in the footer.
	w.header.ExtraTypes, w.extension.ExtraTypes = nil, w.header.ExtraTypes
	if err := w.writeHeader(config); err != nil {
		return err
	}
	w.outlets = field.NewOutlets(w.sink)
	return nil
}

// writeHeader writes the header and begins to write the pages of its columns.
func (w *ntuple) writeHeader(config *writeConfig) error {
	b, err := w.header.Append(nil)
	if err != nil {
		return err
	}
	if w.schema, err = build(&w.header, nil); err != nil {
		return err
	}
	if w.link, err = pages.WriteEnvelope(w.file.pages, b, config.pages); err != nil {
		return err
	}
	w.sink = pages.NewSink(config.ctx, w.file.pages, config.pages, envelope.Checksum(b))
	w.sink.AddColumns(w.schema.Columns)
	return nil
}

// build makes a schema that must have nothing to hide.
func build(h *envelope.Header, ext *envelope.Schema) (*schema.Schema, error) {
	s, err := schema.Build(h, ext)
	if err == nil && len(s.Hidden) > 0 {
		err = fmt.Errorf("field %q: %w", s.Hidden[0].Field.Name, s.Hidden[0].Err)
	}
	return s, err
}

// compile makes the plan for the fields that the RNTuple has now.
func (w *Writer[T]) compile() (err error) {
	w.plan, err = w.outlets.CompileEntries(w.fields(), reflect.TypeFor[T]())
	return err
}

// fields returns the top-level fields that have columns of their own.
func (w *ntuple) fields() (fields []*schema.Field) {
	for _, f := range w.schema.Fields {
		if f.Source == nil {
			fields = append(fields, f)
		}
	}
	return fields
}

// Schema returns the schema as it is now.
func (w *ntuple) Schema() *schema.Schema { return w.schema }

// NumEntries returns the number of entries written so far.
func (w *ntuple) NumEntries() int64 { return w.sink.Entries() }

var errClosed = errors.New("the writer is closed")

func (w *ntuple) ready() error {
	if w.closed {
		return errClosed
	}
	return w.sink.Err()
}

// Write writes one entry. What it points to is copied.
func (w *Writer[T]) Write(entry *T) error {
	if err := w.ready(); err != nil {
		return err
	}
	if err := w.plan.Write(unsafe.Pointer(entry), 1); err != nil {
		// Some columns have the entry, others do not.
		w.sink.Fail(fmt.Errorf("entry %d: %w", w.sink.Entries(), err))
		return w.sink.Err()
	}
	return w.sink.EndEntries(1)
}

// WriteBatch writes many entries.
func (w *Writer[T]) WriteBatch(entries []T) error {
	for i := range entries {
		if err := w.Write(&entries[i]); err != nil {
			return err
		}
	}
	return w.ready()
}

// WriteAll writes all entries that seq yields, up to the first error.
func (w *Writer[T]) WriteAll(seq iter.Seq[T]) error {
	for entry := range seq {
		if err := w.Write(&entry); err != nil {
			return err
		}
	}
	return w.ready()
}

// Extend adds fields to those of the RNTuple; earlier entries have zero values
// there. The entries that follow must have them.
//
// It is for writers of dynamic values: the fields of a Go type are fixed.
//
// Specification: "Schema Extension Record Frame".
func (w *Writer[T]) Extend(fields ...*schema.FieldDocument) error {
	if err := w.ready(); err != nil {
		return err
	}
	doc := &schema.Document{Name: w.name, Fields: fields}
	added, err := doc.Extend(w.schema, w.sink.Entries(), w.compressed())
	if err != nil {
		return err
	}
	ext := w.extension
	ext.Fields = append(ext.Fields[:len(ext.Fields):len(ext.Fields)], added.Fields...)
	ext.Columns = append(ext.Columns[:len(ext.Columns):len(ext.Columns)], added.Columns...)
	ext.Aliases = append(ext.Aliases[:len(ext.Aliases):len(ext.Aliases)], added.Aliases...)
	s, err := build(&w.header, &ext)
	if err != nil {
		return err
	}
	w.extension, w.schema = ext, s
	w.sink.AddColumns(s.Columns)
	return w.compile()
}

func (w *ntuple) compressed() bool { return w.sink.Settings().Compression.Level() > 0 }

// CommitCluster ends the current cluster, if it has entries.
func (w *ntuple) CommitCluster() error {
	if w.closed {
		return errClosed
	}
	return w.sink.CommitCluster()
}

// CommitClusterGroup ends the current cluster and writes the page list of those
// since the last group. Without it there is one group, as ROOT has it.
func (w *ntuple) CommitClusterGroup() error {
	if w.closed {
		return errClosed
	}
	return w.sink.CommitClusterGroup()
}

// Use has the values of a field written in another of the representations that
// its document gives, counted from 0, from the next cluster on, which begins now.
func (w *ntuple) Use(path string, representation int) error {
	if err := w.ready(); err != nil {
		return err
	}
	chain, err := w.schema.Lookup(path)
	if err != nil {
		return err
	}
	f := chain[len(chain)-1]
	if representation < 0 || representation >= len(f.Columns) || f.Source != nil {
		return fmt.Errorf("field %q has %d representations, %d is none", path, len(f.Columns), representation)
	}
	if err := w.sink.CommitCluster(); err != nil {
		return err
	}
	w.outlets.Activate(f, representation)
	return nil
}

// Checkpoint makes the file readable as it is now, with all entries written so
// far, and ends the current cluster and cluster group. Entries can be written
// after it. If the program dies later, the file stays as it was at the
// checkpoint.
func (w *ntuple) Checkpoint() error {
	if err := w.ready(); err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return err
	}
	return w.file.commit()
}

// finish writes the footer and lists the anchor.
func (w *ntuple) finish() error {
	o, err := w.anchorObject()
	if err != nil {
		return err
	}
	var key rootfile.Key
	if w.anchor == nil {
		key, err = w.file.out.Object(w.dir, o)
	} else {
		key, err = w.file.out.Replace(w.dir, *w.anchor, o)
	}
	w.anchor = &key
	return err
}

// anchorObject writes what is left, attribute sets first, and the footer, and
// returns the anchor.
func (w *ntuple) anchorObject() (o rootfile.Object, err error) {
	if err := w.sink.CommitClusterGroup(); err != nil {
		return o, err
	}
	footer := envelope.Footer{
		Features:       w.features,
		HeaderChecksum: w.sink.HeaderChecksum(),
		Extension:      &w.extension,
		ClusterGroups:  w.sink.Groups(),
		AttributeSets:  append([]envelope.AttributeSet{}, w.linked...),
	}
	for _, set := range w.sets {
		o, err := set.anchorObject()
		if err != nil {
			return o, fmt.Errorf("attribute set %q: %w", set.name, err)
		}
		at, err := w.file.out.Unlisted(o)
		if err != nil {
			return o, err
		}
		footer.AttributeSets = append(footer.AttributeSets, envelope.AttributeSet{
			SchemaMajor: 1, AnchorLength: uint32(o.Len), Anchor: locator.At(uint64(at), uint64(len(o.Stored))), Name: set.name,
		})
	}
	b, err := footer.Append(nil)
	if err != nil {
		return o, err
	}
	link, err := w.sink.Envelope(b)
	if err != nil {
		return o, err
	}
	settings := w.sink.Settings()
	a := anchor.Anchor{
		ClassVersion: anchor.ClassVersion, Epoch: 1, Major: 0, Minor: 2, Patch: 0,
		SeekHeader: w.link.Locator.Offset, NBytesHeader: w.link.Locator.Size, LenHeader: w.link.Length,
		SeekFooter: link.Locator.Offset, NBytesFooter: link.Locator.Size, LenFooter: link.Length,
		MaxKeySize: settings.MaxKeySize,
	}
	object, err := a.Append(nil)
	if err != nil {
		return o, err
	}
	stored, err := compress.Append(nil, object, settings.Compression)
	return rootfile.Object{Class: anchor.ClassName, Name: w.name, Stored: stored, Len: len(object)}, err
}

// Abort gives up what has been written since the last checkpoint, and closes the
// file, if Create made it.
func (w *ntuple) Abort() error {
	if w.closed {
		return errClosed
	}
	w.sink.Fail(errAborted)
	if err := w.Close(); !errors.Is(err, errAborted) {
		return err
	}
	return nil
}

// Close writes what is left, and the file, if Create made it. It returns the
// first error of all, so that one may leave those of Write and others alone until
// here; then the file has not come into being, or is as it was at
// the last checkpoint.
func (w *ntuple) Close() error {
	if w.closed {
		return errClosed
	}
	w.closed = true
	for _, set := range w.sets {
		set.closed = true
	}
	w.file.open--
	err := w.sink.Err()
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		if w.file.err == nil {
			w.file.err = fmt.Errorf("RNTuple %q: %w", w.name, err)
		}
		err = w.file.err
	}
	if w.owned {
		if closeErr := w.file.Close(); err == nil {
			err = closeErr
		}
	}
	return err
}
