package rntuple

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/cpptype"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/schema"
)

// matchPlan reads the entries of a source that match those of the primary one.
type matchPlan struct {
	keys   plan // reads the key fields of the primary source
	signed []bool
	side   *side
	items  plan // reads the entries of the other source
	gather *field.Gather
	size   int64 // of a value, in bytes

	values  []uint64 // of the keys
	matches []match
	at      []int32 // index of the item of each entry; -1 if it has no match
}

// A match is an entry of the primary source, counted in a batch, and the entry of the other
// source that matches it.
type match struct {
	of    int32
	entry int64
}

func newMatchPlan(primary Source, s *side, t reflect.Type, members []field.Member) (*matchPlan, error) {
	p := &matchPlan{side: s, size: int64(t.Size())}
	var err error
	if p.gather, err = field.NewGather(members, s.zeros); err != nil {
		return nil, err
	}
	items := make([]field.Member, len(members))
	for i, m := range members {
		m.Type, m.Offset = p.gather.Member(i)
		items[i] = m
	}
	if p.items, err = bindSpread(s.src, p.gather.Item(), items); err != nil {
		return nil, err
	}
	keys := make([]key, len(s.on))
	for i, name := range s.on {
		if keys[i], err = keyOf(primary, name); err != nil {
			return nil, err
		}
		p.signed = append(p.signed, keys[i].signed())
	}
	p.keys, err = bindKeys(primary, keys)
	return p, err
}

// matchBatch is the number of entries whose matches are read together.
const matchBatch = 1 << 13

func (p *matchPlan) read(ctx context.Context, memory *field.Memory, first, n int64, dst unsafe.Pointer) (done int64, err error) {
	table, err := p.side.tableOf(ctx)
	for done < n && err == nil {
		var got int64
		want := min(n-done, matchBatch)
		if got, err = p.batch(ctx, memory, table, first+done, want, unsafe.Add(dst, done*p.size)); err != nil {
			break
		}
		if done += got; got < want {
			break
		}
	}
	return done, err
}

func (p *matchPlan) batch(ctx context.Context, memory *field.Memory, t *table, first, n int64, dst unsafe.Pointer) (int64, error) {
	k := len(p.signed)
	p.values = slices.Grow(p.values[:0], int(n)*k)[:int(n)*k]
	n, err := p.keys.read(ctx, memory, first, n, unsafe.Pointer(unsafe.SliceData(p.values)))
	if err != nil {
		return 0, err
	}
	p.matches = p.matches[:0]
	p.at = slices.Grow(p.at[:0], int(n))[:n]
	for i := range p.at {
		p.at[i] = -1
		if entry := t.find(p.values[i*k:(i+1)*k], p.signed); entry >= 0 {
			p.matches = append(p.matches, match{int32(i), entry})
		}
	}
	byEntry := func(a, b match) int { return cmp.Compare(a.entry, b.entry) }
	if !slices.IsSortedFunc(p.matches, byEntry) {
		slices.SortFunc(p.matches, byEntry)
	}
	// Entries between matches that are close to each other are read as well: that costs
	// less than another read.
	const gap = 8
	type run struct{ first, n int64 }
	var runs []run
	total := int64(0)
	for _, m := range p.matches {
		last := len(runs) - 1
		if last < 0 || m.entry >= runs[last].first+runs[last].n+gap {
			runs, last = append(runs, run{first: m.entry}), last+1
		}
		more := m.entry + 1 - runs[last].first - runs[last].n
		runs[last].n, total = runs[last].n+more, total+more
		p.at[m.of] = int32(total - 1)
	}
	typ := p.gather.Item()
	items := reflect.MakeSlice(reflect.SliceOf(typ), int(total)+1, int(total)+1).UnsafePointer()
	at := uintptr(0)
	for _, r := range runs {
		got, err := p.items.read(ctx, memory, r.first, r.n, unsafe.Add(items, at))
		if err == nil && got != r.n {
			err = fmt.Errorf("%d entries from entry %d on, expected %d", got, r.first, r.n)
		}
		if err != nil {
			return 0, fmt.Errorf("join of %q: %w", p.side.name, err)
		}
		at += uintptr(r.n) * typ.Size()
	}
	p.gather.Copy(dst, uintptr(p.size), p.at, items)
	return n, nil
}

func (p *matchPlan) inOrder(first, end int64) { p.keys.inOrder(first, end) }

func (p *matchPlan) stop() {
	p.keys.stop()
	p.items.stop()
}

// maxKeys is the largest number of fields to match entries by, as in ROOT.
const maxKeys = 4

// A key is a field that entries are matched by.
type key struct {
	name string
	typ  reflect.Type // int64, or uint64 for fields of that type
}

func (k key) signed() bool { return k.typ.Kind() == reflect.Int64 }

// keyOf returns the key field at a path of s, which must be an integer.
func keyOf(s Source, name string) (key, error) {
	f, err := s.field(name)
	if err != nil {
		return key{}, err
	}
	typ := f.CppType()
	for f.Shape == schema.Wrapper {
		f = f.Children[0]
	}
	switch kind := f.Kind(); {
	case f.Shape != schema.Scalar || kind < cpptype.Int8 || kind > cpptype.UInt64:
		return key{}, fmt.Errorf("field %q of type %s: entries are matched by integers", name, typ)
	case kind == cpptype.UInt64:
		return key{name, reflect.TypeFor[uint64]()}, nil
	}
	return key{name, reflect.TypeFor[int64]()}, nil
}

// bindKeys returns the plan that reads the values of keys as 64-bit words, entry by entry.
func bindKeys(s Source, keys []key) (plan, error) {
	members := make([]field.Member, len(keys))
	for i, k := range keys {
		members[i] = field.Member{Name: k.name, Type: k.typ, Offset: uintptr(i) * 8}
	}
	return s.bind(reflect.ArrayOf(len(keys), reflect.TypeFor[uint64]()), members)
}
