package surgery

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Renaming says what gets which name.
type Renaming struct {
	// Name is that of the RNTuple. If it is empty the old one stays.
	Name string
	// Fields are new names by the path of the field: of a top-level field, or of a
	// member of an untyped record. Members of classes have the names that the
	// classes have.
	Fields map[string]string
}

// Rename makes a ROOT file at out with the RNTuple of the input under other names.
// Pages are copied. With Name, the RNTuple's name may lead through directories.
//
// Paths that are not there and names that cannot be or are taken are an error.
func Rename(ctx context.Context, out string, in Input, to Renaming, opts ...Option) (*Report, error) {
	set := newSettings(opts)
	set.keepCompression = set.keepCompression || set.compression == nil
	return transform(ctx, out, in, set, func(_ *source, s *shape) error { return s.rename(to) })
}

// RenameInPlace gives names to an RNTuple and its fields in the file that it is in:
// header, footer and page lists are written anew, pages stay where they are. It
// takes the place of what it was, so that the old names are gone, and stays in its
// directory; other cycles keep their names. If anything fails the file is as it
// was.
func RenameInPlace(ctx context.Context, in Input, to Renaming, opts ...Option) error {
	set := newSettings(opts)
	return renameIn(ctx, in, to, set, func() (*ntuple.File, error) { return set.update(in.Path) })
}

// renameIn is RenameInPlace in the file that update opens.
func renameIn(ctx context.Context, in Input, to Renaming, set *settings, update func() (*ntuple.File, error)) error {
	src, err := openSource(ctx, in, set.read...)
	if err != nil {
		return err
	}
	defer src.close()
	if src.Legacy() {
		return fmt.Errorf("%s: files from before format 1.0.0.0 are only read: %w", src.name, rntuple.ErrUnsupported)
	}
	s := &shape{header: src.Header, ext: src.Footer.Extension}
	if s.ext == nil {
		s.ext = &envelope.Schema{}
	}
	if err := s.build(); err != nil {
		return fmt.Errorf("%s: %w", src.name, err)
	}
	if err := s.rename(to); err != nil {
		return fmt.Errorf("%s: %w", src.name, err)
	}
	if strings.Contains(s.header.Name, "/") {
		return fmt.Errorf("%s: %q leads to another directory", src.name, s.header.Name)
	}
	if err := set.compressAs(ctx, src); err != nil {
		return err
	}
	f, err := update()
	if err != nil {
		return err
	}
	o, err := ntuple.NewWriteOptions(set.write)
	if err == nil {
		err = f.Rename(src.Reader, s.header, s.ext, o)
	}
	if err != nil {
		f.Abort()
		return fmt.Errorf("%s: %w", src.name, err)
	}
	return f.Close()
}

// rename gives the RNTuple and its fields other names.
func (s *shape) rename(to Renaming) error {
	var errs []error
	for at, name := range to.Fields {
		errs = append(errs, s.renameField(at, name))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if to.Name != "" {
		s.header.Name = to.Name
	}
	if err := s.build(); err != nil {
		return err
	}
	_, last := path.Split(s.header.Name)
	return checkNames(last, s.Fields)
}

func (s *shape) renameField(at, name string) error {
	chain, err := s.Lookup(at)
	if err != nil {
		return err
	}
	f := chain[len(chain)-1]
	if f.Parent != nil && (f.Parent.Shape != schema.Record || f.Parent.TypeName != "") {
		return fmt.Errorf("field %q is part of the type %s, which says how it is called", at, f.Parent.CppType())
	}
	if id, n := int(f.ID), len(s.header.Fields); id < n {
		s.header.Fields[id].Name = name
	} else {
		s.ext.Fields[id-n].Name = name
	}
	return nil
}

// checkNames makes sure that the names of an RNTuple and its fields can be.
func checkNames(name string, fields []*schema.Field) error {
	doc := &schema.Document{Name: name}
	var walk func(fields []*schema.Field) []*schema.FieldDocument
	walk = func(fields []*schema.Field) (docs []*schema.FieldDocument) {
		for _, f := range fields {
			d := &schema.FieldDocument{Name: f.Name, Type: "int"}
			if f.Shape == schema.Record && f.TypeName == "" {
				d = &schema.FieldDocument{Name: f.Name, Role: "record", Fields: walk(f.Children)}
			}
			docs = append(docs, d)
		}
		return docs
	}
	doc.Fields = walk(fields)
	_, err := doc.Describe(true)
	return err
}
