package rntuple

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An AttributeSet identifies a linked attribute set: an RNTuple whose entries, the
// attributes, belong to ranges of entries of another RNTuple. See Reader.OpenAttributes.
type AttributeSet struct {
	Name                     string
	SchemaMajor, SchemaMinor uint16
}

// AttributeSets returns the attribute sets linked to the RNTuple.
func (r *Reader) AttributeSets() []AttributeSet {
	var sets []AttributeSet
	for _, s := range r.ntuple.Footer.AttributeSets {
		sets = append(sets, AttributeSet{s.Name, s.SchemaMajor, s.SchemaMinor})
	}
	return sets
}

// Attributes is an open attribute set, with the range of entries of each attribute. Attributes are
// numbered from 0 in the order in which they were written, and all methods return them in that
// order.
//
// Ranges may overlap, be nested, and be in any order. An empty range belongs to no entry. Ranges
// may extend beyond the entries of the linked RNTuple, which ROOT does not check either.
//
// Attributes uses about 26 bytes of memory per attribute, at most Limits.EntryBytes; values are
// read through views, see AttributesOf. It is safe for concurrent use until the Reader that opened
// it is closed.
type Attributes struct {
	set   *Reader
	index *rangeIndex
}

// attributeBytes is the memory per attribute, in bytes: 16 for its range, 8 for its place in
// the order of the index, and at most 2 for its share of the index's nodes.
const attributeBytes = 26

const userData = "_userData"

// OpenAttributes opens the attribute set with the given name and reads all of its ranges, even if
// the set is already open.
//
// The error wraps ErrNotFound if there is no such set, and ErrUnsupported if the major
// version of its schema is not 1. Fields that a newer minor version has added are ignored.
//
// Source: ROOT class RNTupleAttrSetReader, which, unlike this method, rejects sets with additional
// fields regardless of their version, and returns attributes ordered by the start of their range.
func (r *Reader) OpenAttributes(name string) (*Attributes, error) {
	fail := func(err error) (*Attributes, error) { return nil, fmt.Errorf("attribute set %q: %w", name, err) }
	set, err := r.ntuple.OpenSet(name)
	if err != nil {
		return fail(err)
	}
	a := &Attributes{set: &Reader{set, r.ctx}}
	ranges, err := a.readRanges()
	if err != nil {
		return fail(err)
	}
	a.index = newRangeIndex(ranges)
	return a, nil
}

// readRanges reads the ranges of entries of all attributes.
func (a *Attributes) readRanges() (ranges []EntryRange, err error) {
	if n, limit := a.set.NumEntries(), a.set.ntuple.Options.Limits.EntryBytes; n > limit/attributeBytes {
		return nil, &frame.LimitError{Limit: "EntryBytes", What: fmt.Sprintf("list of %d attributes", n),
			Need: min(n, math.MaxInt64/attributeBytes) * attributeBytes, Have: limit}
	}
	view, err := ViewOf[struct {
		Start uint64 `rntuple:"_rangeStart"`
		Len   uint64 `rntuple:"_rangeLen"`
	}](a.set, "")
	if err != nil {
		return nil, err
	}
	for i, e := range view.All() {
		if e.Start > math.MaxInt64 || e.Len > math.MaxInt64-e.Start {
			return nil, &frame.FormatError{Path: "_rangeLen",
				Err: frame.Corrupt("attribute %d has %d entries from %d on, which are too many", i, e.Len, e.Start)}
		}
		ranges = append(ranges, EntryRange{int64(e.Start), int64(e.Start + e.Len)})
	}
	return ranges, view.Err()
}

// Name returns the name of the set.
func (a *Attributes) Name() string { return a.set.Name() }

// Len returns the number of attributes.
func (a *Attributes) Len() int { return len(a.index.ranges) }

// Range returns the range of entries that attribute i belongs to.
func (a *Attributes) Range(i int) EntryRange { return a.index.ranges[i] }

// Fields returns the fields of the attributes.
func (a *Attributes) Fields() []*schema.Field {
	for _, f := range a.set.Schema().TopLevel() {
		if f.Name == userData {
			return f.Children
		}
	}
	return nil
}

// Reader returns a Reader of the RNTuple that stores the set. Its fields are _rangeStart,
// _rangeLen, and _userData, which contains the fields of the attributes.
func (a *Attributes) Reader() *Reader { return a.set }

// Holding returns the numbers of the attributes whose range contains an entry. It takes O(log Len)
// time per result.
func (a *Attributes) Holding(entry int64) []int {
	return a.Covering(EntryRange{entry, entry + 1})
}

// Covering returns the numbers of the attributes whose range contains all entries of e, or none if
// e is empty. Its complexity is that of Holding.
func (a *Attributes) Covering(e EntryRange) []int {
	if e.First >= e.End {
		return nil
	}
	return a.index.find(0, a.index.begunBefore(e.First+1), func(ends span) bool { return ends.max >= e.End })
}

// Within returns the numbers of the attributes with a non-empty range contained in e. Its
// complexity is that of Holding.
func (a *Attributes) Within(e EntryRange) []int {
	if e.First >= e.End {
		return nil
	}
	return a.index.find(a.index.begunBefore(e.First), a.index.begunBefore(e.End),
		func(ends span) bool { return ends.min <= e.End })
}

// A rangeIndex finds ranges. It is a tree over the ranges that are not empty, ordered by
// their first entry; each node has the bounds of their ends. A node of level 0 stands for
// fanOut ranges, a node of a higher level for fanOut nodes of the level below.
type rangeIndex struct {
	ranges []EntryRange
	order  []int // numbers of the ranges that are not empty
	levels [][]span
}

type span struct{ min, max int64 }

const fanOut = 16

func newRangeIndex(ranges []EntryRange) *rangeIndex {
	x := &rangeIndex{ranges: ranges}
	for i, r := range ranges {
		if r.Len() > 0 {
			x.order = append(x.order, i)
		}
	}
	slices.SortFunc(x.order, func(i, j int) int { return cmp.Compare(ranges[i].First, ranges[j].First) })
	for n := len(x.order); n > fanOut; {
		level := make([]span, (n+fanOut-1)/fanOut)
		for i := range level {
			level[i] = span{math.MaxInt64, 0}
			for j := i * fanOut; j < min((i+1)*fanOut, n); j++ {
				ends := x.ends(len(x.levels), j)
				level[i] = span{min(level[i].min, ends.min), max(level[i].max, ends.max)}
			}
		}
		x.levels = append(x.levels, level)
		n = len(level)
	}
	return x
}

// ends returns the bounds of the ends of the ranges below a node. Nodes of height 0 are the
// ranges, those of height h belong to level h-1.
func (x *rangeIndex) ends(height, node int) span {
	if height > 0 {
		return x.levels[height-1][node]
	}
	end := x.ranges[x.order[node]].End
	return span{end, end}
}

// begunBefore returns the number of ranges that begin before an entry.
func (x *rangeIndex) begunBefore(entry int64) int {
	return sort.Search(len(x.order), func(i int) bool { return x.ranges[x.order[i]].First >= entry })
}

// find returns the numbers, in order, of the ranges from place lo up to but not including hi
// whose end is wanted. It searches the nodes for whose bounds wanted returns true.
func (x *rangeIndex) find(lo, hi int, wanted func(ends span) bool) (found []int) {
	var search func(height, width, first, end int)
	search = func(height, width, first, end int) { // nodes that stand for width ranges each
		for i := max(first, lo/width); i < end && i*width < hi; i++ {
			switch {
			case !wanted(x.ends(height, i)):
			case height > 0:
				search(height-1, width/fanOut, i*fanOut, (i+1)*fanOut)
			default:
				found = append(found, x.order[i])
			}
		}
	}
	width := 1
	for range x.levels {
		width *= fanOut
	}
	search(len(x.levels), width, 0, fanOut)
	slices.Sort(found)
	return found
}

// An AttributeView reads the values of attributes. It must be used by one goroutine at a
// time; several views of the same Attributes can be used concurrently.
type AttributeView[A any] struct {
	attributes *Attributes
	view       *View[A]
	err        error
}

// AttributesOf returns a view of attributes as values of type A: a struct that names the
// fields to read, as for Entries, or value.Record for all fields as dynamic values.
//
// The error is a *schema.MismatchError if A does not fit.
func AttributesOf[A any](a *Attributes) (*AttributeView[A], error) {
	view, err := ViewOf[A](a.set, userData)
	if err != nil {
		return nil, fmt.Errorf("attribute set %q: %w", a.Name(), err)
	}
	return &AttributeView[A]{attributes: a, view: view}, nil
}

// At returns the value of attribute i.
func (v *AttributeView[A]) At(i int) (A, error) { return v.view.At(int64(i)) }

// All yields the range and the value of every attribute, including those with an empty
// range, in the order in which they were written. An error ends the loop; Err returns it.
func (v *AttributeView[A]) All() iter.Seq2[EntryRange, A] {
	return func(yield func(EntryRange, A) bool) {
		for i, value := range v.view.All() {
			if !yield(v.attributes.Range(int(i)), value) {
				break
			}
		}
		v.err = v.view.Err()
	}
}

// Holding is like All, but yields only the attributes that Attributes.Holding returns.
func (v *AttributeView[A]) Holding(entry int64) iter.Seq2[EntryRange, A] {
	return v.some(v.attributes.Holding(entry))
}

// Covering is like All, but yields only the attributes that Attributes.Covering returns.
func (v *AttributeView[A]) Covering(e EntryRange) iter.Seq2[EntryRange, A] {
	return v.some(v.attributes.Covering(e))
}

// Within is like All, but yields only the attributes that Attributes.Within returns.
func (v *AttributeView[A]) Within(e EntryRange) iter.Seq2[EntryRange, A] {
	return v.some(v.attributes.Within(e))
}

// some yields the attributes with the given numbers.
func (v *AttributeView[A]) some(numbers []int) iter.Seq2[EntryRange, A] {
	return func(yield func(EntryRange, A) bool) {
		v.err = nil
		for _, i := range numbers {
			value, err := v.At(i)
			if err != nil {
				v.err = err
				return
			}
			if !yield(v.attributes.Range(i), value) {
				return
			}
		}
	}
}

// Err returns the error that ended the last loop over attributes, or nil if there was none.
func (v *AttributeView[A]) Err() error { return v.err }
