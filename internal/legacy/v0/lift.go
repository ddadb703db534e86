package v0

import (
	"cmp"
	"slices"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/legacy/lift"
)

// types holds the column types of format 1 by their numbers in this dialect. An
// offset has 32 bits. Integers are signed if the type of their field is. Real8 no
// longer exists.
var types = []column.Type{
	1: column.Index32, 2: column.Switch, 3: column.Byte, 4: column.Bit,
	5: column.Real64, 6: column.Real32, 7: column.Real16, 8: 0x8008,
	9: column.UInt64, 10: column.UInt32, 11: column.UInt16,
}

var widths = []uint16{1: 32, 2: 64, 3: 8, 4: 1, 5: 64, 6: 32, 7: 16, 8: 8, 9: 64, 10: 32, 11: 16}

// Lift returns the header and the footer in the form of format 1, and the page list
// of the only cluster group that they then have. Author, custodian, times and IDs
// have no place in format 1. headerLength and footerLength are the lengths that the
// anchor gives, in bytes.
func Lift(h *Header, f *Footer, headerLength,
	footerLength uint64) (*envelope.Header, *envelope.Footer, *envelope.PageList, error) {
	fail := func(path string, err error) (*envelope.Header, *envelope.Footer, *envelope.PageList, error) {
		return nil, nil, nil, &frame.FormatError{Path: path, Err: err}
	}
	if uint64(f.HeaderLength) != headerLength || uint64(f.FooterLength) != footerLength {
		return fail("footer.postscript", frame.Corrupt("header and footer of %d and %d bytes, expected %d and %d",
			f.HeaderLength, f.FooterLength, headerLength, footerLength))
	}
	header := &envelope.Header{Name: h.Name, Description: h.Description}
	fields, err := h.liftFields(header)
	if err != nil {
		return fail("header.fields", err)
	}
	columns, err := h.liftColumns(header, fields)
	if err != nil {
		return fail("header.columns", err)
	}
	footer, list, err := f.lift(h.OwnID.Text, columns)
	if err != nil {
		return fail("footer.clusters", err)
	}
	lift.Schema(&header.Schema, &envelope.Schema{})
	lift.Signs(&header.Schema, &envelope.Schema{})
	return header, footer, list, nil
}

// liftFields appends the fields to those of header, depth-first along the links
// from the root to its children. It returns the new IDs.
func (h *Header) liftFields(header *envelope.Header) (map[uint64]uint32, error) {
	byID := make(map[uint64]*Field, len(h.Fields))
	var root *Field
	for i := range h.Fields {
		f := &h.Fields[i]
		if byID[f.ID] != nil {
			return nil, frame.Corrupt("two fields have the id %d", f.ID)
		}
		if byID[f.ID] = f; f.Parent == noParent {
			if root != nil {
				return nil, frame.Corrupt("fields %d and %d have no parent", root.ID, f.ID)
			}
			root = f
		}
	}
	if root == nil {
		return nil, frame.Corrupt("there is no root among %d fields", len(h.Fields))
	}
	ids := make(map[uint64]uint32, len(h.Fields))
	type link struct{ parent, id uint64 }
	var open []link // a stack: the next one is the last
	follow := func(f *Field) {
		for _, id := range slices.Backward(f.Children) {
			open = append(open, link{f.ID, id})
		}
	}
	for follow(root); len(open) > 0; {
		l := open[len(open)-1]
		open = open[:len(open)-1]
		f := byID[l.id]
		if f == nil || f.Parent != l.parent {
			return nil, frame.Corrupt("field %d is linked to field %d, but is not its child", l.parent, l.id)
		}
		id := uint32(len(header.Fields))
		if _, ok := ids[l.id]; ok {
			return nil, frame.Corrupt("field %d is linked twice", l.id)
		}
		ids[l.id] = id
		d := envelope.Field{
			Version: f.FieldVersion.Min, TypeVersion: f.TypeVersion.Use,
			Parent: id, Role: envelope.Role(min(f.Structure, 0xffff)),
			Name: f.Name, TypeName: f.TypeName, Description: f.Description, ArraySize: f.Repetitions,
		}
		if l.parent != root.ID {
			d.Parent = ids[l.parent]
		}
		if f.Repetitions > 0 {
			d.Flags = envelope.FieldRepetitive
		}
		header.Fields = append(header.Fields, d)
		follow(f)
	}
	if len(ids) != len(h.Fields)-1 {
		return nil, frame.Corrupt("%d of %d fields are linked", len(ids), len(h.Fields)-1)
	}
	return ids, nil
}

// liftColumns appends the columns to those of header, by field and index. It
// returns the new IDs.
func (h *Header) liftColumns(header *envelope.Header, fields map[uint64]uint32) (map[uint64]uint32, error) {
	sorted := slices.Clone(h.Columns)
	for _, c := range sorted {
		if _, ok := fields[c.Field]; !ok {
			return nil, frame.Corrupt("column %d belongs to field %d, which is not there", c.ID, c.Field)
		}
	}
	slices.SortStableFunc(sorted, func(a, b Column) int {
		return cmp.Or(cmp.Compare(fields[a.Field], fields[b.Field]), cmp.Compare(a.Index, b.Index))
	})
	ids := make(map[uint64]uint32, len(sorted))
	for i, c := range sorted {
		if _, ok := ids[c.ID]; ok {
			return nil, frame.Corrupt("two columns have the id %d", c.ID)
		}
		index := uint32(0)
		if i > 0 && sorted[i-1].Field == c.Field {
			index = sorted[i-1].Index + 1
		}
		if c.Index != index {
			return nil, frame.Corrupt("column %d has the index %d in its field, expected %d", c.ID, c.Index, index)
		}
		ids[c.ID] = uint32(i)
		d := envelope.Column{Type: lift.Type(types, c.Type), Field: fields[c.Field]}
		if uint64(c.Type) < uint64(len(widths)) {
			d.Bits = widths[c.Type]
		}
		d.PreRelease = d.Type == column.Switch
		header.Columns = append(header.Columns, d)
	}
	return ids, nil
}

// lift returns a footer with one cluster group, and its page list. Every cluster
// holds the ID of the RNTuple that it belongs to.
func (f *Footer) lift(ownID string, columns map[uint64]uint32) (*envelope.Footer, *envelope.PageList, error) {
	footer, list := &envelope.Footer{}, &envelope.PageList{}
	if len(f.Clusters) == 0 {
		return footer, list, nil
	}
	group := envelope.ClusterGroup{MinEntry: noParent, NumClusters: uint32(len(f.Clusters))}
	end := uint64(0)
	for _, c := range f.Clusters {
		switch {
		case c.OwnID.Text != ownID:
			return nil, nil, frame.Corrupt("cluster %d is of RNTuple %q, the header of %q", c.ID, c.OwnID.Text, ownID)
		case c.NumEntries > noParent-c.FirstEntry:
			return nil, nil, frame.Corrupt("cluster %d has %d entries from %d on", c.ID, c.NumEntries, c.FirstEntry)
		case len(c.Columns) != len(columns):
			return nil, nil, frame.Corrupt("cluster %d has %d columns, the schema %d", c.ID, len(c.Columns), len(columns))
		}
		group.MinEntry, end = min(group.MinEntry, c.FirstEntry), max(end, c.FirstEntry+c.NumEntries)
		pages := envelope.ClusterPages{Columns: make([]envelope.ColumnPages, len(columns))}
		seen := make(map[uint64]bool, len(columns))
		for _, r := range c.Columns {
			id, ok := columns[r.Column]
			if !ok || seen[r.Column] {
				return nil, nil, frame.Corrupt("cluster %d has column %d, which is not there or had before", c.ID, r.Column)
			}
			seen[r.Column] = true
			lifted, err := r.lift()
			if err != nil {
				return nil, nil, err
			}
			pages.Columns[id] = lifted
		}
		list.Clusters = append(list.Clusters, envelope.Cluster{FirstEntry: c.FirstEntry, NumEntries: c.NumEntries})
		list.Pages = append(list.Pages, pages)
	}
	group.EntrySpan = end - group.MinEntry
	footer.ClusterGroups = []envelope.ClusterGroup{group}
	return footer, list, nil
}

func (r *Range) lift() (envelope.ColumnPages, error) {
	p := envelope.ColumnPages{ElementOffset: int64(r.FirstElement), Compression: uint32(r.Compression)}
	sum := uint64(0)
	for _, page := range r.Pages {
		sum += uint64(page.NumElements)
		p.Pages = append(p.Pages, envelope.Page{NumElements: page.NumElements, Locator: page.Locator.lift()})
	}
	if sum != uint64(r.NumElements) || p.ElementOffset < 0 {
		return p, frame.Corrupt("column %d has %d elements from %d on, its pages have %d", r.Column,
			r.NumElements, r.FirstElement, sum)
	}
	return p, nil
}
