package surgery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Renaming lists the new names of an RNTuple and its fields.
type Renaming struct {
	// Name is the new name of the RNTuple. Default: unchanged.
	Name string
	// Fields maps paths of fields to their new names. Only top-level fields and members of untyped
	// records can be renamed, because the names of class members are defined by the class.
	Fields map[string]string
}

// Rename creates a ROOT file at out with the RNTuple of the input under new names. Pages are
// copied. The new name of the RNTuple may contain directories.
//
// It is an error if a field does not exist, or if a name is invalid or not unique.
func Rename(ctx context.Context, out string, in Input, to Renaming, o *Options) (*Report, error) {
	o = cmp.Or(o, new(Options))
	return o.config().asStored().create(ctx, out, &job{inputs: []Input{in}, edit: to.edit})
}

// RenameInPlace renames an RNTuple and its fields in its file: header, footer and page lists are
// rewritten, pages are not moved. The RNTuple is no longer available under its old name, and stays
// in its directory. Older cycles are renamed as well, but their fields are not; if the name of the
// input selects a cycle, such as "name;1", only this cycle is renamed. After an error the file is
// unchanged.
func RenameInPlace(ctx context.Context, in Input, to Renaming, o *InPlaceOptions) error {
	return renameInPlace(ctx, ntuple.UpdateFile, in, to, o)
}

// renameInPlace is RenameInPlace in the file that open opens.
func renameInPlace(ctx context.Context, open opener, in Input, to Renaming, o *InPlaceOptions) error {
	return o.config().inPlace(ctx, open, in, func(f *ntuple.File, src *source, write *ntuple.WriteOptions) error {
		ext := src.extension()
		s := &shape{Header: src.Header, Extension: &ext}
		if err := s.build(); err != nil {
			return err
		}
		if err := to.edit(s); err != nil {
			return err
		}
		if strings.Contains(s.Header.Name, "/") {
			return fmt.Errorf("%q leads to another directory", s.Header.Name)
		}
		sets, err := renameZones(ctx, src, s, write)
		if err != nil {
			return err
		}
		return f.Rename(src.Reader, s.Header, s.Extension, write, sets)
	})
}

// edit gives the RNTuple and its fields the new names.
func (to Renaming) edit(s *shape) error {
	var errs []error
	for at, name := range to.Fields {
		errs = append(errs, s.renameField(at, name))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if to.Name != "" {
		s.Header.Name = to.Name
	}
	if err := s.build(); err != nil {
		return err
	}
	_, last := path.Split(s.Header.Name)
	return checkNames(last, s.Fields)
}

func (s *shape) renameField(at, name string) error {
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
