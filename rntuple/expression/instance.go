package expression

import (
	"fmt"
	"iter"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// An instance evaluates a Program for one goroutine.
type instance struct {
	run
	leaves  *leaves
	outputs []output      // nil for expressions that have none
	truths  []*node[bool] // where expressions that are conditions are true; nil for the others
	mayHold *node[bool]   // where it, or an item of it, is true; nil if that is not known
	zones   zones
	whole   *place // of the first expression
}

// instance returns an instance that is not in use.
func (p *Program) instance() *instance {
	if in, ok := p.pool.Get().(*instance); ok {
		return in
	}
	in, _, err := p.build()
	if err != nil {
		panic(err) // Compile has built one
	}
	return in
}

// build makes an instance, and returns the types of the expressions.
func (p *Program) build() (*instance, []Type, error) {
	in := &instance{leaves: &leaves{domains: map[string]*domain{}, columns: map[string]any{}}}
	entries := &domain{clock: &in.clock}
	types := make([]Type, len(p.exprs))
	for i, e := range p.exprs {
		b := &builder{
			scope: p.scope, leaves: in.leaves, entries: entries, here: entries, source: &source{text: e.text},
			names: map[definition]value{}, failing: map[syntax.Node]bool{}, eager: map[syntax.Node]bool{},
		}
		v, err := b.expression(e, nil)
		if err != nil {
			return nil, nil, err
		}
		if v, err = b.down(v); err != nil {
			return nil, nil, err
		}
		types[i] = v.typ()
		out, err := p.outputs(b, i, v)
		if err != nil {
			return nil, nil, err
		}
		in.outputs = append(in.outputs, out)
		var truth *node[bool]
		if c := v.orFalse(); c.kind == Bool {
			truth = c.condition()
		}
		if in.truths = append(in.truths, truth); i == 0 {
			in.whole, in.mayHold = b.place(e.root()), v.someTrue()
		}
	}
	for _, f := range in.leaves.later {
		f()
	}
	return in, types, nil
}

// begin prepares for the entries of s from a first one on.
func (in *instance) begin(s rntuple.Source, first int64) {
	limits, _ := rntuple.LimitsOf(s, first) // an error is that of the reading of the entries, too
	in.ctx, in.limit, in.budget = rntuple.ContextOf(s), limits.ExpressionBytes, formula.Budget{}
}

// batchSize is how many entries are evaluated at a time. Tests change it.
var batchSize = 1 << 13

// softLimit is what the values of several entries may take before fewer are evaluated at a time.
const softLimit = 32 << 20

// evaluated reads the entries of s in r in batches, evaluates the program for them, where use takes
// the values, and yields the batches.
func (p *Program) evaluated(in *instance, s rntuple.Source, r rntuple.EntryRange,
	use func(r *run)) iter.Seq2[*rntuple.Batch, error] {
	paths := p.paths
	if len(paths) == 0 && p.idle != "" {
		paths = []string{p.idle}
	}
	return func(yield func(*rntuple.Batch, error) bool) {
		for size, done := batchSize, false; !done; {
			done = true
			for b, err := range rntuple.BatchesIn(s, r, &rntuple.BatchOptions{Fields: paths, Size: size}) {
				if err == nil {
					var stop *formula.Stop
					if stop, err = in.evaluate(s, b, use); stop != nil && !stop.Steps && b.Len > 1 {
						size, done = max(1, b.Len/8), false
						break
					}
				}
				if !yield(b, err) || err != nil {
					return
				}
				r.First += int64(b.Len)
				if size < batchSize && r.First%int64(4*batchSize) < int64(size) {
					size, done = batchSize, false // what takes so much may be over
					break
				}
			}
		}
	}
}

// evaluate evaluates the program for a batch, which was read from s: use takes the values. The
// budget's end is returned beside its error.
func (in *instance) evaluate(s rntuple.Source, b *rntuple.Batch, use func(r *run)) (stop *formula.Stop, err error) {
	in.clock++
	in.batch, in.err, in.at = b, nil, in.whole
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *formula.Stop:
			if err = r.Cause; err == nil {
				stop, err = r, in.exceeded(r)
			}
		default:
			panic(r)
		}
	}()
	limit := in.limit
	if b.Len > 1 {
		limit = min(limit, softLimit)
	}
	in.budget.Begin(in.ctx, limit, in.limit, b.First/int64(batchSize))
	for _, check := range in.leaves.checks {
		check.find(&in.run)
	}
	if in.err == nil {
		use(&in.run)
	}
	return nil, in.failure(s)
}

// brief returns the text of a node, or how it begins.
func brief(n syntax.Node) string {
	const most = 60
	text := []rune(n.String())
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// exceeded returns the error for the end of the budget at the place that was computed.
func (in *instance) exceeded(stop *formula.Stop) error {
	what := "the values"
	if stop.Steps {
		what = fmt.Sprintf("the work, with %d steps for a byte,", formula.StepsPerByte)
	}
	what = fmt.Sprintf("%s of %s in %d entries", what, brief(in.at.node), in.batch.Len)
	cause := &frame.LimitError{Limit: "ExpressionBytes", What: what, Need: stop.Need, Have: stop.Limit}
	err := in.at.error(cause.Error())
	err.cause = cause
	return err
}

// failure returns the first error of the batch, which was read from s.
func (in *instance) failure(s rntuple.Source) error {
	if in.err == nil {
		return nil
	}
	entry := in.batch.First + int64(in.row)
	for selected, ok := s.(*rntuple.Selection); ok; selected, ok = s.(*rntuple.Selection) {
		entry, s = selected.Entry(entry), selected.Source()
	}
	return fmt.Errorf("entry %d: %w", entry, in.err)
}
