package rntuple

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Join is a Source that extends the entries of a primary source with the fields of others: of
// friends, whose entries correspond one to one to its entries, and of sources whose entries are
// matched by the values of fields. The fields of the primary source keep their names; those of the
// others are named "name.field" in paths and tags. A struct field whose tag is the name of another
// source reads several of its fields; for a matched source it must be a pointer to a struct. The
// Join does not own its sources: the caller must close them.
//
// Fields of a matched source are optional, because there may be no match: they are read into
// pointers, which are then nil, or into any. Entries with the same match may share the pointed-to
// values. See ZeroValues for values without pointers.
type Join struct {
	primary Source
	others  []*side
	friends *alignment
	ctx     context.Context
}

// An alignment is what is known of the friends of a Join.
type alignment struct {
	mu      sync.Mutex
	checked bool // all have as many entries as the primary source
}

// A Joined is a non-primary source of a Join; see Friend and Match.
type Joined struct {
	name   string
	src    Source
	on     []string
	zeros  bool
	friend bool
}

// Friend joins a source whose entries correspond to those of the primary source one to one, in
// order. If the numbers of entries differ, creating a view fails.
func Friend(name string, s Source) Joined { return Joined{name: name, src: s, friend: true} }

// Match joins to each entry of the primary source the first entry of s that has the same
// values in the named fields, which both sources must have: one to four fields of integers,
// of any width, which are compared as numbers.
//
// The first read builds a table of the values of these fields in s, which takes 20 to 32 bytes for
// every distinct combination of values, and 8 to 10 more for every field after the first. It is
// kept for the lifetime of the Join. The matches of several thousand entries are read together, in
// their order in s.
func Match(name string, s Source, fields ...string) Joined {
	return Joined{name: name, src: s, on: slices.Clone(fields)}
}

// ZeroValues returns a copy of j whose fields read as zero for entries without a match. Such fields
// are read into the same Go types as without a Join.
func (j Joined) ZeroValues() Joined {
	j.zeros = true
	return j
}

// A side is a source in a join, with its table once that has been made.
type side struct {
	Joined
	keys []key // fields of the source

	mu    sync.Mutex
	table *table
}

// NewJoin returns the Join of a primary source and others.
func NewJoin(primary Source, others ...Joined) (*Join, error) {
	j := &Join{primary: primary, friends: new(alignment), ctx: primary.context()}
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
	return j, nil
}

// WithContext returns a Join of the same sources whose views return the context's error when it is
// done. By default, the context is that of the primary source.
func (j *Join) WithContext(ctx context.Context) *Join {
	return &Join{j.primary, j.others, j.friends, ctx}
}

// NumEntries returns the number of entries of the primary source.
func (j *Join) NumEntries() (int64, error) { return j.count(j.ctx) }

func (j *Join) count(ctx context.Context) (int64, error)         { return j.primary.count(ctx) }
func (j *Join) ranges(ctx context.Context) ([]EntryRange, error) { return j.primary.ranges(ctx) }
func (j *Join) bound() int64                                     { return j.primary.bound() }
func (j *Join) context() context.Context                         { return j.ctx }
func (j *Join) workers() int                                     { return j.primary.workers() }
func (j *Join) far() bool                                        { return j.primary.far() }

func (j *Join) names() []string {
	all := j.primary.names()
	for _, s := range j.others {
		for _, name := range s.src.names() {
			all = append(all, s.name+"."+name)
		}
	}
	return all
}

// resolve returns the source of the field at path, nil for the primary one, and the path of
// the field there.
func (j *Join) resolve(path string) (*side, string) {
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

// align checks that friends have as many entries as the primary source.
func (j *Join) align() error {
	j.friends.mu.Lock()
	defer j.friends.mu.Unlock()
	if j.friends.checked {
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
	j.friends.checked = true
	return nil
}

// bind distributes the members to the sources.
func (j *Join) bind(t reflect.Type, members []field.Member) (plan, error) {
	if err := nameless(members); err != nil {
		return nil, err
	}
	groups := map[*side][]field.Member{} // by source, nil for the primary one
	for _, m := range members {
		s, rest := j.resolve(m.Name)
		m.Name = rest
		groups[s] = append(groups[s], m)
	}
	p := new(joinPlan)
	if own := groups[nil]; len(own) > 0 || len(groups) == 0 {
		inner, err := j.primary.bind(t, own)
		if err != nil {
			return nil, err
		}
		p.together = append(p.together, inner)
	}
	for _, s := range j.others {
		if groups[s] == nil {
			continue
		}
		var inner plan
		var err error
		if s.friend {
			if err = j.align(); err == nil {
				inner, err = bindSpread(s.src, t, groups[s])
			}
		} else {
			inner, err = newMatchPlan(j.primary, s, t, groups[s])
		}
		if err != nil {
			return nil, fmt.Errorf("join of %q: %w", s.name, err)
		}
		p.together = append(p.together, inner)
	}
	return p, nil
}

// bindSpread is like bind, but replaces members that are structs of whole entries by the
// members of these structs.
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
		return nil, fmt.Errorf("field %q: a matched source has no columnar form; use ViewOf", path)
	}
	if err := j.align(); err != nil {
		return nil, err
	}
	return s.src.bindJagged(rest, item)
}

// joinPlan reads from several sources, each of which fills its own members of the same
// values.
type joinPlan struct{ together[plan] }

func (p *joinPlan) read(ctx context.Context, memory *field.Memory, first, n int64, dst unsafe.Pointer) (int64, error) {
	for i, part := range p.together {
		got, err := part.read(ctx, memory, first, n, dst)
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

func (p *joinPlan) readSpans(ctx context.Context, memory *field.Memory, spans []columnar.Span,
	dst unsafe.Pointer) error {
	for _, part := range p.together {
		if err := part.readSpans(ctx, memory, spans, dst); err != nil {
			return err
		}
	}
	return nil
}

// together are plans that read the same entries of several sources.
type together[P orderedPlan] []P

func (t together[P]) inOrder(first, end int64, c field.Chosen) {
	for _, p := range t {
		p.inOrder(first, end, c)
	}
}

func (t together[P]) stop() {
	for _, p := range t {
		p.stop()
	}
}
