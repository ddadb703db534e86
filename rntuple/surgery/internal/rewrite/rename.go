package rewrite

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// RenameInPlace writes the metadata of an RNTuple with other names, which edit gives
// it, into its file, which open opens. Pages stay where they are.
func RenameInPlace(ctx context.Context, in Input, open Opener, edit func(*Shape) error, options Options) error {
	write, err := options.writeOptions(ctx)
	if err != nil {
		return err
	}
	f, err := open(in.Path, write)
	if err != nil {
		return err
	}
	if err := renameIn(ctx, f, in, edit, options); err != nil {
		f.Abort()
		return err
	}
	return f.Close()
}

// renameIn writes the metadata into the file f.
func renameIn(ctx context.Context, f *ntuple.File, in Input, edit func(*Shape) error, options Options) error {
	src, err := openSource(ctx, 0, in, options.Read)
	if err != nil {
		return err
	}
	defer src.close()
	if src.Legacy() {
		return src.fail(frame.Unsupported("files from before format 1.0.0.0 are only read"))
	}
	ext := src.extension()
	s := &Shape{Header: src.Header, Extension: &ext}
	if err := s.build(); err != nil {
		return src.fail(err)
	}
	if err := edit(s); err != nil {
		return src.fail(err)
	}
	if strings.Contains(s.Header.Name, "/") {
		return src.fail(fmt.Errorf("%q leads to another directory", s.Header.Name))
	}
	if err := options.compressAs(ctx, src); err != nil {
		return err
	}
	write, err := options.writeOptions(ctx)
	if err != nil {
		return err
	}
	sets, err := renameZones(ctx, src, s, write)
	if err != nil {
		return err
	}
	return src.fail(f.Rename(src.Reader, s.Header, s.Extension, write, sets))
}

// Rename gives the RNTuple, unless its name is empty, and fields, by their paths,
// other names.
func (s *Shape) Rename(name string, fields map[string]string) error {
	var errs []error
	for at, name := range fields {
		errs = append(errs, s.renameField(at, name))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if name != "" {
		s.Header.Name = name
	}
	if err := s.build(); err != nil {
		return err
	}
	_, last := path.Split(s.Header.Name)
	return checkNames(last, s.Fields)
}

func (s *Shape) renameField(at, name string) error {
	chain, err := s.Lookup(at)
	if err != nil {
		return err
	}
	f := chain[len(chain)-1]
	if f.Parent != nil && (f.Parent.Shape != schema.Record || f.Parent.TypeName != "") {
		return fmt.Errorf("field %q is part of the type %s, which gives it its name", at, f.Parent.CppType())
	}
	if id, n := int(f.ID), len(s.Header.Fields); id < n {
		s.Header.Fields[id].Name = name
	} else {
		s.Extension.Fields[id-n].Name = name
	}
	return nil
}

// checkNames makes sure that an RNTuple and fields can have their names.
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
