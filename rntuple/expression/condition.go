package expression

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// Condition returns the condition that is true for an entry where the value of the expression
// is; a missing value is false. Only the fields that the expression names are read, and of
// records only the members that it names. Its methods return an *Error if the expression does
// not fit the fields, or is no condition.
//
// Clusters for which the zone maps of files decide are not read; see package zonemap.
func (e *Expression) Condition() rntuple.Condition { return e.ConditionUsing(nil) }

// ConditionUsing is Condition, but z says whether zone maps are used, and learns how many
// clusters they rule out. It may be nil.
func (e *Expression) ConditionUsing(z *rntuple.ZoneUse) rntuple.Condition {
	return &condition{expression: e, zones: z}
}

// A condition keeps the programs for the sources that it was used for last.
type condition struct {
	expression *Expression
	zones      *rntuple.ZoneUse
	mu         sync.Mutex
	recent     []compiled
}

type compiled struct {
	source  rntuple.Source
	program *Program
	stages  *stages // nil: there is one only
	err     error
}

// maxRecent is how many programs a condition keeps.
const maxRecent = 4

func (c *condition) String() string { return c.expression.text }

// program returns the program for a source.
func (c *condition) program(s rntuple.Source) (*Program, *stages, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.recent, func(r compiled) bool { return r.source == s }); i >= 0 {
		return c.recent[i].program, c.recent[i].stages, c.recent[i].err
	}
	p, err := c.compile(s)
	if len(c.recent) == maxRecent {
		c.recent = slices.Delete(c.recent, 0, 1)
	}
	var st *stages
	if err == nil {
		st = newStages(s, c.expression)
	}
	c.recent = append(c.recent, compiled{s, p, st, err})
	return p, st, err
}

// compile returns a new program for a source. Each of several conditions must be one by itself.
func (c *condition) compile(s rntuple.Source) (p *Program, err error) {
	all := c.expression.conditions()
	for _, one := range all {
		if p, err = Compile(s, one); err != nil {
			return nil, err
		}
		in := p.instance()
		isCondition := in.truths[0] != nil
		p.pool.Put(in)
		if !isCondition {
			return nil, noCondition(one, p.types[0])
		}
	}
	if len(all) > 1 {
		p, err = Compile(s, c.expression)
	}
	return p, err
}

// Check implements rntuple.Condition.
func (c *condition) Check(s rntuple.Source) error {
	_, _, err := c.program(s)
	return err
}

// Select implements rntuple.Condition.
func (c *condition) Select(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		p, stages, err := c.program(s)
		if err != nil {
			yield(rntuple.EntryRange{}, err)
			return
		}
		in := p.instance()
		defer p.pool.Put(in)
		var again *rntuple.ZoneUse // not c.zones, which would count clusters twice
		if c.zones != nil && c.zones.Off {
			again = c.zones
		}
		for part, err := range rntuple.Possible(s, r, c.zones, in.possible) {
			if err != nil {
				yield(part, err)
				return
			}
			// Entries of clusters for which the condition is known to be true are yielded unread.
			for open, err := range rntuple.Possible(s, part, again, in.open) {
				if err != nil {
					yield(open, err)
					return
				}
				if part.First < open.First && !yield(rntuple.EntryRange{First: part.First, End: open.First}, nil) {
					return
				}
				found := p.selected(s, open)
				if stages != nil {
					found = stages.selected(s, open)
				}
				for one, err := range found {
					if err != nil && c.expression.operands != nil {
						err = fmt.Errorf("%w, in %s", err, c.expression.text) // where its place is
					}
					if !yield(one, err) || err != nil {
						return
					}
				}
				part.First = open.End
			}
			if part.Len() > 0 && !yield(part, nil) {
				return
			}
		}
	}
}

// selected yields the entries of s in r for which the first expression, a condition, is true:
// ranges that are not empty.
func (p *Program) selected(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
	return p.selectedWith(s, r, nil)
}

// selectedWith is selected, and shows a function in which rows of each batch the expressions are
// true.
func (p *Program) selectedWith(s rntuple.Source, r rntuple.EntryRange,
	show func(r *run, truths []*node[bool])) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		in := p.instance()
		defer p.pool.Put(in)
		in.begin(s, r.First)
		var found rntuple.EntryRange
		var truth []bool
		take := func(r *run) {
			if truth, _ = in.truths[0].rows(r); show != nil {
				show(r, in.truths)
			}
		}
		for b, err := range p.evaluated(in, s, r, take) {
			if err != nil {
				yield(rntuple.EntryRange{}, err)
				return
			}
			for i, t := range truth {
				entry := b.First + int64(i)
				switch {
				case !t:
				case found.End == entry:
					found.End++
				default:
					if found.Len() > 0 && !yield(found, nil) {
						return
					}
					found = rntuple.EntryRange{First: entry, End: entry + 1}
				}
			}
		}
		if found.Len() > 0 {
			yield(found, nil)
		}
	}
}

// Possible yields those of the entries r of s for which one of some conditions can be true, or true
// of an item, or can fail, as far as the zone maps of files tell: ranges in order that are not
// empty. The fields of the conditions are not read. z is as for ConditionUsing. The error is an
// *Error if a condition does not fit the fields.
func Possible(s rntuple.Source, r rntuple.EntryRange, z *rntuple.ZoneUse,
	conditions ...*Expression) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		var all []*instance
		for _, c := range conditions {
			p, err := Compile(s, c)
			if err != nil {
				yield(rntuple.EntryRange{}, err)
				return
			}
			all = append(all, p.instance())
		}
		rntuple.Possible(s, r, z, func(zone func(path string) (zonemap.Zone, bool)) bool {
			return slices.ContainsFunc(all, func(in *instance) bool { return in.possible(zone) })
		})(yield)
	}
}

// noCondition returns the error about an expression of a type that is no condition, which says how
// to make one of it.
func noCondition(e *Expression, t Type) *Error {
	help := ""
	switch {
	case t.Depth == 1 && t.Kind == Bool:
		help = fmt.Sprintf("; use any(%s, #)", e.text)
		if n, ok := e.tree.(*syntax.Binary); ok && isA[*syntax.Name](n.L) &&
			(isA[*syntax.Int](n.R) || isA[*syntax.Float](n.R)) {
			help = fmt.Sprintf("; use any(%s, # %s %s)", n.L, n.Op, n.R)
		}
	case t.Depth == 0 && (t.Kind == Int || t.Kind == Float):
		help = "; compare it with a number"
	}
	return &Error{Message: fmt.Sprintf("expected bool, but got %v: %s%s", t, e.text, help)}
}

func isA[N syntax.Node](n syntax.Node) bool {
	_, ok := n.(N)
	return ok
}
