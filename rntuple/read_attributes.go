package rntuple

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/go-rntuple/go-rntuple/internal/wire"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An AttributeSet names a linked attribute set: an RNTuple whose entries, the
// attributes, belong to ranges of entries of another. See Reader.OpenAttributes.
type AttributeSet struct {
	Name                     string
	SchemaMajor, SchemaMinor uint16
}

// AttributeSets lists the attribute sets that are linked to the RNTuple.
func (r *Reader) AttributeSets() []AttributeSet {
	var sets []AttributeSet
	for _, s := range r.ntuple.Footer.AttributeSets {
		sets = append(sets, AttributeSet{s.Name, s.SchemaMajor, s.SchemaMinor})
	}
	return sets
}

// Attributes is an attribute set that is open: it knows to which entries each
// attribute belongs. Attributes are numbered from 0 in the order in which they
// were written, and every method gives them in this order.
//
// Ranges may overlap, be nested, and be in any order. They may be empty; such ones
// hold for nothing and are only listed. They may reach beyond the entries of the
// RNTuple that the set is linked to: ROOT does not check that either.
//
// It holds about 26 bytes of memory an attribute, Limits.EntryBytes at most; values
// are read by views, see AttributesOf. It is safe for concurrent use until the
// Reader that it came from is closed.
type Attributes struct {
	set   *Reader
	index *rangeIndex
}

// attributeBytes is how many bytes of memory an attribute takes: 16 for its range,
// and for the index 8 of the order and 16 of every 16th or fewer.
const attributeBytes = 26

const userData = "_userData"

// OpenAttributes opens the attribute set of the given name and reads all of its
// ranges. Sets that are opened twice are read twice.
//
// The error wraps ErrNotFound if there is no such set, ErrUnsupported if the
// major version of its schema is not 1. A newer minor version may have added
// fields; they are not looked at.
//
// Source: ROOT class RNTupleAttrSetReader, which differs in that it refuses sets
// with more fields whatever their version, and gives attributes by the first
// entry of their range.
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

// readRanges reads to which entries the attributes belong.
func (a *Attributes) readRanges() (ranges []EntryRange, err error) {
	if n, limit := a.set.NumEntries(), a.set.ntuple.Options.Limits.EntryBytes; n > limit/attributeBytes {
		return nil, wire.Unsupported("%d attributes, the limit is %d bytes of memory for them", n, limit)
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
			return nil, &FormatError{Path: "_rangeLen", Err: wire.Corrupt("attribute %d has %d entries from %d on, there cannot be as many", i, e.Len, e.Start)}
		}
		ranges = append(ranges, EntryRange{int64(e.Start), int64(e.Start + e.Len)})
	}
	return ranges, view.Err()
}

// Name returns the name of the set.
func (a *Attributes) Name() string { return a.set.Name() }

// Len returns the number of attributes.
func (a *Attributes) Len() int { return len(a.index.ranges) }

// Range returns the entries that attribute i belongs to.
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

// Reader returns a Reader of the set as the RNTuple that it is, whose fields are
// _rangeStart, _rangeLen and, with the attributes' own fields in it, _userData.
func (a *Attributes) Reader() *Reader { return a.set }

// Holding returns the numbers of the attributes that hold for an entry: those
// whose range has it. It takes time in proportion to how many they are, and to
// the logarithm of how many there are.
func (a *Attributes) Holding(entry int64) []int {
	return a.Covering(EntryRange{entry, entry + 1})
}

// Covering returns the numbers of the attributes that hold for all entries of e,
// none if e is empty. It takes as long as Holding.
func (a *Attributes) Covering(e EntryRange) []int {
	if e.First >= e.End {
		return nil
	}
	return a.index.find(0, a.index.begunBefore(e.First+1), func(ends span) bool { return ends.max >= e.End })
}

// Within returns the numbers of the attributes that hold for no entry outside of
// e, none if e is empty. It takes as long as Holding.
func (a *Attributes) Within(e EntryRange) []int {
	if e.First >= e.End {
		return nil
	}
	return a.index.find(a.index.begunBefore(e.First), a.index.begunBefore(e.End), func(ends span) bool { return ends.min <= e.End })
}

// A rangeIndex finds ranges. Over those that are not empty, by their first entry,
// it has a tree that says what their ends lie between: a node of level 0 stands
// for fanOut ranges, one of the next for fanOut nodes.
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

// ends returns what the ends of the ranges below a node lie between, of as many
// levels as height says. Those of height 0 are the ranges.
func (x *rangeIndex) ends(height, node int) span {
	if height > 0 {
		return x.levels[height-1][node]
	}
	end := x.ranges[x.order[node]].End
	return span{end, end}
}

// begunBefore returns how many ranges begin before an entry.
func (x *rangeIndex) begunBefore(entry int64) int {
	return sort.Search(len(x.order), func(i int) bool { return x.ranges[x.order[i]].First >= entry })
}

// find returns the numbers, in order, of those ranges from place lo to hi whose
// end is wanted. A node is searched if wanted says that there may be one below.
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

// An AttributeView reads the values of attributes. It keeps what it decoded
// last, and serves one goroutine at a time; several can share their Attributes.
type AttributeView[A any] struct {
	attributes *Attributes
	view       *View[A]
	err        error
}

// AttributesOf returns a view of attributes as values of type A: a struct with
// the fields of the set that are wanted, as Entries takes it, or value.Record for
// all fields as dynamic values.
//
// The error is a *MismatchError if A does not fit.
func AttributesOf[A any](a *Attributes) (*AttributeView[A], error) {
	view, err := ViewOf[A](a.set, userData)
	if err != nil {
		return nil, fmt.Errorf("attribute set %q: %w", a.Name(), err)
	}
	return &AttributeView[A]{attributes: a, view: view}, nil
}

// At returns the value of attribute i.
func (v *AttributeView[A]) At(i int) (A, error) { return v.view.At(int64(i)) }

// All yields all attributes with the entries that they belong to, empty ranges
// included, in the order in which they were written. It ends early after an
// error, which Err returns.
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

// Holding yields the attributes that hold for an entry, as All and
// Attributes.Holding.
func (v *AttributeView[A]) Holding(entry int64) iter.Seq2[EntryRange, A] {
	return v.some(v.attributes.Holding(entry))
}

// Covering yields the attributes that hold for all entries of e, as All and
// Attributes.Covering.
func (v *AttributeView[A]) Covering(e EntryRange) iter.Seq2[EntryRange, A] {
	return v.some(v.attributes.Covering(e))
}

// Within yields the attributes that hold for no entry outside of e, as All and
// Attributes.Within.
func (v *AttributeView[A]) Within(e EntryRange) iter.Seq2[EntryRange, A] {
	return v.some(v.attributes.Within(e))
}

// some yields the attributes of the given numbers.
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

// Err returns the error that ended the last loop over attributes early, nil if
// there was none.
func (v *AttributeView[A]) Err() error { return v.err }
