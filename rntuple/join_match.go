package rntuple

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
)

// A matcher finds the entries of a source that match those of the primary one.
type matcher struct {
	keys   plan // reads the key fields of the primary source
	signed []bool
	side   *side

	values  []uint64 // of the keys
	matches []match

	// of the last call of match:
	runs []columnar.Span
	at   []int32 // by entry of the primary source: the place in the runs of its match; -1 if it has none
}

// A match is an entry of the primary source, counted in a batch, and the entry of the other
// source that matches it.
type match struct {
	of    int32
	entry int64
}

func newMatcher(primary Source, s *side) (*matcher, error) {
	m := &matcher{side: s}
	keys := make([]key, len(s.on))
	var err error
	for i, name := range s.on {
		if keys[i], err = keyOf(primary, name); err != nil {
			return nil, err
		}
		m.signed = append(m.signed, keys[i].signed())
	}
	m.keys, err = bindKeys(primary, keys)
	return m, err
}

// match sets m.runs and m.at for n entries of the primary source, or less at the end of its
// entries, whose keys read reads, and returns their number.
func (m *matcher) match(ctx context.Context, n int64, read func(keys unsafe.Pointer) (int64, error)) (int64, error) {
	t, err := m.side.tableOf(ctx)
	if err != nil {
		return 0, err
	}
	k := len(m.signed)
	m.values = slices.Grow(m.values[:0], int(n)*k)[:int(n)*k]
	n, err = read(unsafe.Pointer(unsafe.SliceData(m.values)))
	if err != nil {
		return 0, err
	}
	m.matches = m.matches[:0]
	m.at = slices.Grow(m.at[:0], int(n))[:n]
	for i := range m.at {
		m.at[i] = -1
		if entry := t.find(m.values[i*k:(i+1)*k], m.signed); entry >= 0 {
			m.matches = append(m.matches, match{int32(i), entry})
		}
	}
	byEntry := func(a, b match) int { return cmp.Compare(a.entry, b.entry) }
	if !slices.IsSortedFunc(m.matches, byEntry) {
		slices.SortFunc(m.matches, byEntry)
	}
	// Entries between matches that are close to each other are read as well: that costs
	// less than another read.
	const gap = 8
	m.runs = m.runs[:0]
	total := int64(0)
	for _, match := range m.matches {
		last := len(m.runs) - 1
		if last < 0 || match.entry >= m.runs[last].First+m.runs[last].N+gap {
			m.runs, last = append(m.runs, columnar.Span{First: match.entry}), last+1
		}
		more := match.entry + 1 - m.runs[last].First - m.runs[last].N
		m.runs[last].N, total = m.runs[last].N+more, total+more
		m.at[match.of] = int32(total - 1)
	}
	return n, nil
}

// matchRange is match for the entries from first on.
func (m *matcher) matchRange(ctx context.Context, first, n int64) (int64, error) {
	return m.match(ctx, n, func(keys unsafe.Pointer) (int64, error) { return m.keys.read(ctx, nil, first, n, keys) })
}

// matchSpans is match for the entries in spans.
func (m *matcher) matchSpans(ctx context.Context, spans []columnar.Span) (int64, error) {
	n := columnar.Sum(spans)
	return m.match(ctx, n, func(keys unsafe.Pointer) (int64, error) { return n, m.keys.readSpans(ctx, nil, spans, keys) })
}

// fail returns an error of the other source.
func (m *matcher) fail(err error) error { return fmt.Errorf("join of %q: %w", m.side.name, err) }

// matchPlan reads the entries of a source that match those of the primary one.
type matchPlan struct {
	*matcher
	items  plan // reads the entries of the other source
	gather *field.Gather
	size   int64 // of a value, in bytes
}

func newMatchPlan(primary Source, s *side, t reflect.Type, members []field.Member) (*matchPlan, error) {
	p := &matchPlan{size: int64(t.Size())}
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
	p.matcher, err = newMatcher(primary, s)
	return p, err
}

// matchBatch is the number of entries whose matches are read together.
const matchBatch = 1 << 13

func (p *matchPlan) read(ctx context.Context, memory *field.Memory, first, n int64,
	dst unsafe.Pointer) (done int64, err error) {
	for done < n {
		want := min(n-done, matchBatch)
		got, err := p.matchRange(ctx, first+done, want)
		if err == nil {
			err = p.fill(ctx, memory, unsafe.Add(dst, done*p.size))
		}
		if err != nil {
			return done, err
		}
		if done += got; got < want {
			break
		}
	}
	return done, nil
}

func (p *matchPlan) readSpans(ctx context.Context, memory *field.Memory, spans []columnar.Span,
	dst unsafe.Pointer) error {
	for done, n := int64(0), columnar.Sum(spans); done < n; done += matchBatch {
		_, err := p.matchSpans(ctx, within(spans, done, min(n-done, matchBatch)))
		if err == nil {
			err = p.fill(ctx, memory, unsafe.Add(dst, done*p.size))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fill reads what was matched last into the values at dst.
func (p *matchPlan) fill(ctx context.Context, memory *field.Memory, dst unsafe.Pointer) error {
	total := int(columnar.Sum(p.runs))
	items := reflect.MakeSlice(reflect.SliceOf(p.gather.Item()), total+1, total+1).UnsafePointer()
	if total > 0 {
		if err := p.items.readSpans(ctx, memory, p.runs, items); err != nil {
			return p.fail(err)
		}
	}
	p.gather.Copy(dst, uintptr(p.size), p.at, items)
	return nil
}

func (m *matcher) inOrder(first, end int64, c field.Chosen) { m.keys.inOrder(first, end, c) }

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
