package surgery

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pattern"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A pruned schema has the fields of a source that are wanted.
type pruned struct {
	*shape
	origin  map[schema.FieldID]*schema.Field // of the source
	dropped []string                         // projected fields that were dropped with their sources
}

// prune chooses the fields of the source that match the patterns to keep, all if
// there are none, and none of those to drop. The options of package surgery say how.
// Of the first inputs, each pattern must match a field; what others lack of the fields
// of the first one is left to compare.
func (s *source) prune(keep, drop []string, first bool) (err error) {
	if len(keep)+len(drop) == 0 {
		return nil
	}
	p := pruner{keep: keep, drop: drop, first: first, left: map[*schema.Field]bool{}, shed: map[*schema.Field]bool{}}
	s.pruned, err = p.prune(s)
	return s.fail(err)
}

// A pruner chooses fields.
type pruner struct {
	keep, drop []string // patterns
	first      bool
	left, shed map[*schema.Field]bool // shed are those that match drop
	dropped    []string
}

// prune chooses fields of a source and returns the schema with them.
func (p *pruner) prune(s *source) (*pruned, error) {
	top := s.Source.Schema.TopLevel()
	if p.first {
		if err := p.check(top); err != nil {
			return nil, err
		}
	}
	for _, f := range top {
		p.choose(f, len(p.keep) == 0)
	}
	p.project(top)
	p.fill(top)
	if p.first && !slices.ContainsFunc(top, func(f *schema.Field) bool { return p.left[f] }) {
		return nil, errors.New("no field is left")
	}
	return p.renumber(s)
}

// divisible reports whether fields below f can be chosen one by one, if f can be.
func divisible(f *schema.Field) bool {
	return f.TypeName == "" && f.Source == nil && (f.Role == envelope.RoleRecord || f.Role == envelope.RoleCollection)
}

func anyMatches(patterns []string, f *schema.Field) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return pattern.Match(p, f) })
}

// check makes sure that every pattern matches a field that can be chosen.
func (p *pruner) check(top []*schema.Field) error {
	for _, text := range slices.Concat(p.keep, p.drop) {
		if err := pattern.Check(text); err != nil {
			return fmt.Errorf("pattern %q: %w", text, err)
		}
		found := false
		var inside *schema.Field // a match that cannot be chosen
		var walk func(fields []*schema.Field, free bool)
		walk = func(fields []*schema.Field, free bool) {
			for _, f := range fields {
				if pattern.Match(text, f) {
					if free {
						found = true
					} else if inside == nil {
						inside = f
					}
				}
				walk(f.Children, free && divisible(f))
			}
		}
		walk(top, true)
		switch {
		case found:
		case inside != nil:
			return fmt.Errorf("pattern %q: field %q is part of a %s and cannot be kept or dropped alone", text, inside.Path(),
				inside.Parent.CppType())
		case pattern.IsExact(text):
			return schema.NoField(top, text, "the RNTuple")
		default:
			return fmt.Errorf("%w matches %q", schema.ErrNoField, text)
		}
	}
	return nil
}

// choose marks what is left of f and the fields below it, and reports whether
// anything is.
func (p *pruner) choose(f *schema.Field, kept bool) bool {
	if anyMatches(p.drop, f) {
		mark(p.shed, f, true)
		return false
	}
	kept = kept || anyMatches(p.keep, f)
	if divisible(f) && len(f.Children) > 0 {
		some := false
		for _, child := range f.Children {
			some = p.choose(child, kept) || some
		}
		p.left[f] = some
		return some
	}
	mark(p.left, f, kept)
	return kept
}

// mark marks a field and all below it.
func mark(marks map[*schema.Field]bool, f *schema.Field, yes bool) {
	marks[f] = yes
	for _, child := range f.Children {
		mark(marks, child, yes)
	}
}

// project marks the sources of projected fields as left, too. If a source is shed,
// the projected field is dropped.
func (p *pruner) project(fields []*schema.Field) {
	for _, f := range fields {
		switch {
		case !p.left[f]:
		case f.Source == nil:
			p.project(f.Children)
		case !p.need(f):
			mark(p.left, f, false)
			p.dropped = append(p.dropped, f.Path())
		}
	}
}

// need marks the sources of a projected field and of those below it as left. It
// reports whether it could: false if one is shed.
func (p *pruner) need(f *schema.Field) bool {
	var sources []*schema.Field
	for g := f.Source; g != nil; g = g.Source {
		sources = append(sources, g)
	}
	for _, c := range slices.Concat(f.Columns...) {
		sources = append(sources, c.Owner)
	}
	for _, g := range sources {
		if p.shed[g] {
			return false
		}
		for above := g; above != nil; above = above.Parent {
			p.left[above] = true
			if !divisible(above) {
				mark(p.left, above, true)
			}
		}
	}
	for _, child := range f.Children {
		if !p.need(child) {
			return false
		}
	}
	return true
}

// fill adds a field to collections that are only left for their sizes, because ROOT
// cannot read items without any.
func (p *pruner) fill(fields []*schema.Field) {
	for _, f := range fields {
		if !p.left[f] || !divisible(f) || len(f.Children) == 0 {
			continue
		}
		if slices.ContainsFunc(f.Children, func(child *schema.Field) bool { return p.left[child] }) {
			p.fill(f.Children)
			continue
		}
		for g := f; len(g.Children) > 0; {
			g = g.Children[0]
			p.left[g] = true
			if !divisible(g) {
				mark(p.left, g, true)
				break
			}
		}
	}
}

// renumber returns the schema of a source with the fields that are left.
func (p *pruner) renumber(s *source) (*pruned, error) {
	header, ext := *s.Header, s.extension()
	shape := &shape{Header: &header, Extension: &ext, Schema: s.Source.Schema}
	byID := map[schema.FieldID]*schema.Field{}
	for f, yes := range p.left {
		if yes {
			byID[f.ID] = f
		}
	}
	numbers := shape.renumber(func(id schema.FieldID) bool { return byID[id] != nil },
		func(c *schema.Column) *envelope.Column {
			if !p.left[c.Owner] {
				return nil
			}
			return &c.Column
		})
	origin := map[schema.FieldID]*schema.Field{}
	for old, id := range numbers {
		origin[id] = byID[old]
	}
	var err error
	shape.Schema, err = schema.Build(shape.Header, shape.Extension)
	return &pruned{shape, origin, p.dropped}, err
}
