package rntuple

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/cpptype"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Join is a Source that adds to the entries of one source, the primary one, the
// fields of others: of a friend, which has an entry for each, or of a source whose
// entries are matched by the values of fields. The primary source's fields keep
// their names; those of the others are "name.field", in paths and in tags. A
// struct, for a matched source a pointer to one, may also stand for all of a source
// whose name its tag is. The Join does not own its sources: who opened them closes
// them.
//
// Fields of a matched source read as if they were optional, as there may be no
// match: into pointers, which are nil then, or any. Entries that match the same
// one may share what the pointers point to. See ZeroValues for values without
// pointers.
type Join struct {
	*join
	ctx context.Context
}

// join is what Joins of the same sources share.
type join struct {
	primary Source
	others  []*side

	mu      sync.Mutex
	aligned bool // friends were found to have as many entries
}

// A Joined is a source with its part in a Join; see Friend and Match.
type Joined struct {
	name   string
	src    Source
	on     []string
	zeros  bool
	friend bool
}

// Friend joins a source whose entries belong to those of the primary source one by
// one, in order. It has as many, else views give an error.
func Friend(name string, s Source) Joined { return Joined{name: name, src: s, friend: true} }

// Match joins the first entry of a source that has the values that the primary
// source's entry has in the fields named, which both sources have. These are one to
// four fields of integers, compared as numbers, of whatever width.
//
// The first read makes a table of the values of the fields in s, which takes 20 to
// 32 bytes for every entry that has values of its own, and 8 to 10 more for every
// further field. It stays as long as the Join does. The matches of some thousand
// entries are read together, in the order that they have in s.
func Match(name string, s Source, fields ...string) Joined {
	return Joined{name: name, src: s, on: slices.Clone(fields)}
}

// ZeroValues returns j with zero values in place of what entries without a match do
// not have. Its fields read into what fits them without a Join.
func (j Joined) ZeroValues() Joined {
	j.zeros = true
	return j
}

// side is a source in a join, with its table once that is made.
type side struct {
	Joined
	keys []key // of its own

	mu    sync.Mutex
	table *table
}

// NewJoin returns the Join of a primary source and others.
func NewJoin(primary Source, others ...Joined) (*Join, error) {
	j := &join{primary: primary}
	for _, other := range others {
		s := &side{Joined: other}
		fail := func(format string, args ...any) (*Join, error) {
			return nil, fmt.Errorf("join of %q: %w", s.name, fmt.Errorf(format, args...))
		}
		switch taken := func(o *side) bool { return o.name == s.name }; {
		case s.name == "" || strings.Contains(s.name, "."):
			return fail("this cannot be the name of a source")
		case slices.ContainsFunc(j.others, taken):
			return fail("two sources have this name")
		case !s.friend && (len(s.on) == 0 || len(s.on) > maxKeys):
			return fail("%d fields to match by, expected 1 to %d", len(s.on), maxKeys)
		}
		if _, err := primary.field(s.name); err == nil {
			return fail("the primary source has a field of this name")
		}
		for i, name := range s.on {
			if slices.Contains(s.on[:i], name) {
				return fail("field %q is named twice", name)
			}
			if _, err := keyOf(primary, name); err != nil {
				return fail("primary source: %w", err)
			}
			k, err := keyOf(s.src, name)
			if err != nil {
				return fail("%w", err)
			}
			s.keys = append(s.keys, k)
		}
		j.others = append(j.others, s)
	}
	return &Join{j, primary.context()}, nil
}

// WithContext returns a Join of the same sources whose views stop with the
// context's error once it is done. It is that of the primary source otherwise.
func (j *Join) WithContext(ctx context.Context) *Join { return &Join{j.join, ctx} }

// NumEntries returns the number of entries, which is that of the primary source.
func (j *Join) NumEntries() (int64, error) { return j.count(j.ctx) }

func (j *Join) count(ctx context.Context) (int64, error) { return j.primary.count(ctx) }
func (j *Join) bound() int64                             { return j.primary.bound() }
func (j *Join) context() context.Context                 { return j.ctx }
func (j *Join) workers() int                             { return j.primary.workers() }

func (j *Join) names() []string {
	all := j.primary.names()
	for _, s := range j.others {
		for _, name := range s.src.names() {
			all = append(all, s.name+"."+name)
		}
	}
	return all
}

// resolve returns the source, nil for the primary one, that a path leads into, and
// the path there.
func (j *join) resolve(path string) (*side, string) {
	name, rest, _ := strings.Cut(path, ".")
	for _, s := range j.others {
		if s.name == name {
			return s, rest
		}
	}
	return nil, path
}

func (j *Join) field(path string) (*schema.Field, error) {
	s, rest := j.resolve(path)
	switch {
	case s == nil:
		return j.primary.field(path)
	case rest == "":
		return &schema.Field{Field: envelope.Field{Name: s.name}, Shape: schema.Record}, nil
	}
	return s.src.field(rest)
}

// align makes sure that friends have as many entries as the primary source.
func (j *Join) align() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.aligned {
		return nil
	}
	want, err := j.count(j.ctx)
	if err != nil {
		return err
	}
	for _, s := range j.others {
		if !s.friend {
			continue
		}
		n, err := s.src.count(j.ctx)
		if err != nil {
			return fmt.Errorf("friend %q: %w", s.name, err)
		}
		if n != want {
			return fmt.Errorf("friend %q has %d entries, the primary source has %d", s.name, n, want)
		}
	}
	j.aligned = true
	return nil
}

// bind shares members among the sources.
func (j *Join) bind(t reflect.Type, members []field.Member) (plan, error) {
	if err := nameless(members); err != nil {
		return nil, err
	}
	shares := map[*side][]field.Member{}
	for _, m := range members {
		s, rest := j.resolve(m.Name)
		m.Name = rest
		shares[s] = append(shares[s], m)
	}
	p := &joinPlan{size: int64(t.Size())}
	if own := shares[nil]; len(own) > 0 || len(shares) == 0 {
		inner, err := j.primary.bind(t, own)
		if err != nil {
			return nil, err
		}
		p.parts = append(p.parts, inner)
	}
	for _, s := range j.others {
		if shares[s] == nil {
			continue
		}
		var inner plan
		var err error
		if s.friend {
			if err = j.align(); err == nil {
				inner, err = bindSpread(s.src, t, shares[s])
			}
		} else {
			inner, err = newMatchPlan(j.primary, s, t, shares[s])
		}
		if err != nil {
			return nil, fmt.Errorf("join of %q: %w", s.name, err)
		}
		p.parts = append(p.parts, inner)
	}
	return p, nil
}

// bindSpread is bind for members that may be structs of whole entries, in whose place
// their members are read.
func bindSpread(s Source, t reflect.Type, members []field.Member) (plan, error) {
	var all []field.Member
	for _, m := range members {
		if m.Name != "" || m.Type.Kind() != reflect.Struct || m.Type == recordType {
			all = append(all, m)
			continue
		}
		members, err := field.Members(m.Type)
		if err != nil {
			return nil, err
		}
		for _, inner := range members {
			inner.Offset += m.Offset
			all = append(all, inner)
		}
	}
	if err := nameless(all); err != nil {
		return nil, err
	}
	return s.bind(t, all)
}

func (j *Join) bindJagged(path string, item reflect.Type) (jaggedPlan, error) {
	s, rest := j.resolve(path)
	switch {
	case s == nil:
		return j.primary.bindJagged(path, item)
	case !s.friend:
		return nil, fmt.Errorf("field %q: the entries of a matched source are not in columnar form, ViewOf reads them", path)
	}
	if err := j.align(); err != nil {
		return nil, err
	}
	return s.src.bindJagged(rest, item)
}

// joinPlan reads from sources side by side, each of which fills its own members of
// the same values.
type joinPlan struct {
	parts []plan
	size  int64
}

func (p *joinPlan) read(ctx context.Context, first, n int64, dst unsafe.Pointer) (int64, error) {
	for i, part := range p.parts {
		got, err := part.read(ctx, first, n, dst)
		if err != nil {
			return 0, err
		}
		if i > 0 && got != n {
			return 0, fmt.Errorf("sources that are joined have %d and %d entries from entry %d on", n, got, first)
		}
		n = got
	}
	return n, nil
}

func (p *joinPlan) inOrder(first, end int64) {
	for _, part := range p.parts {
		part.inOrder(first, end)
	}
}

func (p *joinPlan) stop() {
	for _, part := range p.parts {
		part.stop()
	}
}

// matchPlan reads what entries of a source have that match those of the primary
// one.
type matchPlan struct {
	keys   plan // of the primary source
	signed []bool
	side   *side
	items  plan // of the source
	gather *field.Gather
	size   int64 // of a value

	values  []uint64 // of keys
	matches []match
	at      []int32 // by entry: its item
}

// A match is an entry of the primary source, counted in a batch, and one of the
// source joined that matches it.
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

// matchBatch is how many entries have their matches read together.
const matchBatch = 1 << 13

func (p *matchPlan) read(ctx context.Context, first, n int64, dst unsafe.Pointer) (done int64, err error) {
	table, err := p.side.tableOf(ctx)
	for done < n && err == nil {
		var got int64
		want := min(n-done, matchBatch)
		if got, err = p.batch(ctx, table, first+done, want, unsafe.Add(dst, done*p.size)); err != nil {
			break
		}
		if done += got; got < want {
			break
		}
	}
	return done, err
}

func (p *matchPlan) batch(ctx context.Context, t *table, first, n int64, dst unsafe.Pointer) (int64, error) {
	k := len(p.signed)
	p.values = slices.Grow(p.values[:0], int(n)*k)[:int(n)*k]
	n, err := p.keys.read(ctx, first, n, unsafe.Pointer(unsafe.SliceData(p.values)))
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
	// Entries between matches that are near each other are read in vain: that costs
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
		got, err := p.items.read(ctx, r.first, r.n, unsafe.Add(items, at))
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

// maxKeys is how many fields entries can be matched by, as in ROOT.
const maxKeys = 4

// A key is a field that entries are matched by.
type key struct {
	name string
	typ  reflect.Type // int64, or uint64 if the field needs it
}

func (k key) signed() bool { return k.typ.Kind() == reflect.Int64 }

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

// bindKeys makes the plan that reads the values of keys as words, those of an entry
// one after the other.
func bindKeys(s Source, keys []key) (plan, error) {
	members := make([]field.Member, len(keys))
	for i, k := range keys {
		members[i] = field.Member{Name: k.name, Type: k.typ, Offset: uintptr(i) * 8}
	}
	return s.bind(reflect.ArrayOf(len(keys), reflect.TypeFor[uint64]()), members)
}

// tableOf returns the table of the source's keys, which it makes first if need be.
func (s *side) tableOf(ctx context.Context) (*table, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table != nil {
		return s.table, nil
	}
	t, err := s.makeTable(ctx)
	if err != nil {
		return nil, fmt.Errorf("join of %q: %w", s.name, err)
	}
	s.table = t
	return t, nil
}

func (s *side) makeTable(ctx context.Context) (*table, error) {
	p, err := bindKeys(s.src, s.keys)
	if err != nil {
		return nil, err
	}
	t := newTable(s.keys)
	p.inOrder(0, math.MaxInt64)
	defer p.stop()
	k := len(s.keys)
	words := make([]uint64, k<<13)
	for at := int64(0); ; {
		n, err := p.read(ctx, at, int64(len(words)/k), unsafe.Pointer(unsafe.SliceData(words))) // asks ctx each time
		if err != nil || n == 0 {
			return t, err
		}
		for i := range int(n) {
			if err := t.add(words[i*k:(i+1)*k], at+int64(i)); err != nil {
				return nil, err
			}
		}
		at += n
	}
}

// A table finds the first entry that has given values in the key fields: a hash
// table with open addressing.
type table struct {
	seed   uint64 // so that no file can have all of its values collide
	signed []bool // by key
	words  []uint64
	entry  []int64  // by number of the values in words
	slots  []uint32 // 1 + such a number, 0 for none; at most 3 of 4 are taken
}

func newTable(keys []key) *table {
	t := &table{seed: rand.Uint64(), slots: make([]uint32, 16)}
	for _, k := range keys {
		t.signed = append(t.signed, k.signed())
	}
	return t
}

// add gives the values to an entry, unless an earlier one has them.
func (t *table) add(words []uint64, entry int64) error {
	slot, found := t.slot(words)
	switch {
	case found:
		return nil
	case uint64(len(t.entry)) == math.MaxUint32:
		return fmt.Errorf("%w: more than %d different values to match entries by", ErrUnsupported, len(t.entry))
	}
	t.words = append(t.words, words...)
	t.entry = append(t.entry, entry)
	t.slots[slot] = uint32(len(t.entry))
	if len(t.entry) > len(t.slots)/4*3 {
		t.slots = make([]uint32, 2*len(t.slots))
		for i := range t.entry {
			slot, _ := t.slot(t.wordsOf(uint32(i)))
			t.slots[slot] = uint32(i) + 1
		}
	}
	return nil
}

// find returns the first entry with the given values, -1 if there is none.
func (t *table) find(words []uint64, signed []bool) int64 {
	for i, w := range words {
		if signed[i] != t.signed[i] && int64(w) < 0 {
			return -1 // below 0 in one, beyond all int64 in the other
		}
	}
	slot, found := t.slot(words)
	if !found {
		return -1
	}
	return t.entry[t.slots[slot]-1]
}

// slot returns where the values are, or where they belong.
func (t *table) slot(words []uint64) (slot uint64, found bool) {
	mask := uint64(len(t.slots) - 1)
	for slot = t.hash(words) & mask; ; slot = (slot + 1) & mask {
		n := t.slots[slot]
		if n == 0 {
			return slot, false
		}
		if slices.Equal(t.wordsOf(n-1), words) {
			return slot, true
		}
	}
}

func (t *table) wordsOf(n uint32) []uint64 {
	k := len(t.signed)
	return t.words[int(n)*k : (int(n)+1)*k]
}

// hash mixes the values with the seed: the two halves of a product depend on all
// bits of its factors.
func (t *table) hash(words []uint64) uint64 {
	h := t.seed
	for _, w := range words {
		hi, lo := bits.Mul64(w^h, 0x9e3779b97f4a7c15|t.seed<<1)
		h = hi ^ lo ^ h
	}
	return h ^ h>>32
}
