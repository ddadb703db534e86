package rntuple

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// An AttributeWriter writes a linked attribute set of an RNTuple: values of type A that belong to
// ranges of its entries. The AttributeWriter and the writer of the RNTuple together must be used by
// one goroutine at a time; closing that writer closes the set.
type AttributeWriter[A any] struct{ w *Writer[attribute[A]] }

// attribute is an entry of an attribute set (schema version 1.0).
type attribute[A any] struct {
	Start uint64 `rntuple:"_rangeStart"`
	Len   uint64 `rntuple:"_rangeLen"`
	Data  A      `rntuple:"_userData"`
}

// Attributed is implemented by Writer and ColumnWriter, to whose RNTuples attribute sets can be
// linked.
type Attributed interface{ base() *ntuple.Writer }

func (w *common) base() *ntuple.Writer { return w.ntuple }

// NewAttributes creates an attribute set linked to the RNTuple of a writer. The struct A defines
// the fields of the set, as for Create. Names that begin with "__" are reserved by the format.
//
// Linked attribute sets were introduced by format 1.0.1.0; ROOT calls them experimental.
func NewAttributes[A any](to Attributed, name string, options *WriteOptions) (*AttributeWriter[A], error) {
	parent := to.base()
	fail := func(err error) (*AttributeWriter[A], error) {
		return nil, fmt.Errorf("attribute set %q: %w", name, err)
	}
	if err := parent.Err(); err != nil {
		return fail(err)
	}
	switch {
	case name == "" || strings.HasPrefix(name, "__") || strings.Contains(name, "/"):
		return fail(fmt.Errorf("invalid name"))
	case parent.HasSet(name):
		return fail(fmt.Errorf("the RNTuple has a set with this name already"))
	}
	doc, err := model(name, reflect.TypeFor[attribute[A]]())
	if err != nil {
		return fail(err)
	}
	options = cmp.Or(options, new(WriteOptions))
	if err := refuse(refusal{len(options.ZoneMap) > 0, "ZoneMap is not for attribute sets"}); err != nil {
		return fail(err)
	}
	o, err := options.in(&File{ctx: parent.Context()})
	if err != nil {
		return fail(err)
	}
	header, ext, err := describe(name, doc, o)
	if err != nil {
		return fail(err)
	}
	set, err := parent.CreateSet(header, o)
	if err != nil {
		return nil, err
	}
	set.Extension = *ext
	w, err := writerOn[attribute[A]](set)
	if err != nil {
		return fail(err)
	}
	return &AttributeWriter[A]{w}, nil
}

// Write writes an attribute of the entries e. The ranges of attributes may overlap and may be empty.
func (a *AttributeWriter[A]) Write(e EntryRange, value A) error {
	if e.First < 0 || e.End < e.First {
		if err := a.w.sink.Enter("Write"); err != nil {
			return err
		}
		defer a.w.sink.Leave()
		if a.w.err() == nil {
			a.w.sink.Fail(fmt.Errorf("attribute set %q: an attribute of entries %v", a.w.ntuple.Header.Name, e))
		}
		return a.w.err()
	}
	entry := attribute[A]{uint64(e.First), uint64(e.Len()), value}
	return a.w.Write(&entry)
}
