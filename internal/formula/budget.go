package formula

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/bits"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// A Budget bounds what an evaluation takes: memory, and steps, of which one is about a value of a
// column. What exceeds it, or goes on after the context is done, panics with a *Stop. The zero
// value has no bounds. A Budget must not be used by several goroutines at once.
type Budget struct {
	Bytes, Steps int64 // that are left
	limit        int64 // bytes
	ctx          context.Context
	looked       int64 // Steps when the context was looked at last
}

// StepsPerByte is how many steps there are for each byte of memory.
const StepsPerByte = 16

const (
	nodeSteps  = 32      // of a node in the virtual machine
	callSteps  = 32      // of a call there
	otherSteps = 192     // of a call of a function of the language, such as date
	itemSteps  = 128     // of an item there, for which a predicate is evaluated, at least
	matchSteps = 4       // of an instruction of a pattern, for each character
	mapSteps   = 256     // of making a map
	buildSteps = 256     // of an instruction of a pattern, when it is compiled
	parseSteps = 128     // of a byte of JSON
	lookSteps  = 1 << 16 // between two looks at the context: well below 10 ms
)

const (
	mapBytes    = 320 // of a map: there is room for eight members
	memberBytes = 64  // of a member of a map, which grows by doubling
)

// A Stop is what a Budget panics with. Its cause is the context's, or nil: the budget is exceeded.
type Stop struct {
	Cause error
	Steps bool  // there are no steps left; otherwise no bytes
	Need  int64 // bytes, at least; for Steps the bytes that would allow them
	Limit int64 // bytes
}

func (s *Stop) Error() string {
	if s.Cause != nil {
		return s.Cause.Error()
	}
	return "too much memory or too many steps"
}

func (s *Stop) Unwrap() error { return s.Cause }

// Begin fills the budget, for a batch.
func (b *Budget) Begin(ctx context.Context, limit int64) {
	steps := int64(math.MaxInt64)
	if limit < math.MaxInt64/StepsPerByte {
		steps = limit * StepsPerByte
	}
	*b = Budget{Bytes: limit, Steps: steps, limit: limit, ctx: ctx, looked: steps}
	b.look()
}

// Take takes memory, before it is allocated.
func (b *Budget) Take(bytes int64) {
	if b.Bytes -= bytes; b.Bytes < 0 && b.limit > 0 {
		panic(&Stop{Need: b.limit - max(b.Bytes, b.limit-math.MaxInt64), Limit: b.limit})
	}
}

// Step takes steps, and looks at the context now and then.
func (b *Budget) Step(n int64) {
	if b.Steps -= n; b.looked-b.Steps >= lookSteps {
		b.look()
	}
}

func (b *Budget) look() {
	b.looked = b.Steps
	if b.ctx != nil && b.ctx.Err() != nil {
		panic(&Stop{Cause: context.Cause(b.ctx)})
	}
	if b.Steps < 0 && b.limit > 0 {
		panic(&Stop{Steps: true, Need: b.limit - max(b.Steps, b.limit-math.MaxInt64)/StepsPerByte, Limit: b.limit})
	}
}

// product returns m * n, or the greatest number. None is negative.
func product(m, n int64) int64 {
	hi, lo := bits.Mul64(uint64(m), uint64(n))
	if hi > 0 || lo > math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	return int64(lo)
}

// weigh returns about how many bytes a value of the virtual machine has, with all that is in it,
// also if that is shared. It takes steps itself.
func (b *Budget) weigh(v any) (bytes int64) {
	switch v := v.(type) {
	case string:
		return int64(len(v))
	case []string:
		b.Step(int64(len(v)))
		for _, s := range v {
			bytes += 16 + int64(len(s))
		}
	case []any:
		b.Step(callSteps * int64(len(v)))
		for _, item := range v {
			bytes += 16 + b.weigh(item)
		}
	case map[string]any:
		b.Step(itemSteps * int64(len(v)))
		for _, item := range v {
			bytes += 16 + b.weigh(item)
		}
	default:
		n, _ := length(v)
		return 8 * int64(n)
	}
	return bytes
}

// charged returns a function that takes memory for what f yields, which is in proportion to the
// arguments from a number on.
func (b *Budget) charged(f call, from int) call {
	return func(args ...any) (any, error) {
		b.Take(2 * b.through(args[from:]...))
		return f(args...)
	}
}

// through takes the steps of going through values, and returns about how many bytes they have.
func (b *Budget) through(values ...any) (bytes int64) {
	for _, v := range values {
		bytes += b.weigh(v)
	}
	b.Step(callSteps + 2*bytes) // for an item, 16
	return bytes
}

// worked returns a function that takes the steps of f, which goes through its arguments and yields
// one value.
func (b *Budget) worked(f call) call {
	return func(args ...any) (any, error) {
		b.through(args...)
		return f(args...)
	}
}

// Load takes the steps of making a value of the virtual machine, which is not kept.
func (b *Budget) Load(v any) { b.Step(b.weigh(v) / 2) }

// made takes the memory of a map, which it returns.
func (b *Budget) made(args ...any) (any, error) {
	n := int64(len(args[0].(map[string]any)))
	b.Step(mapSteps + n*nodeSteps)
	b.Take(mapBytes + n*memberBytes)
	return args[0], nil
}

// stepped puts a call that takes the steps of a node's evaluation in its place.
func (c *checker) stepped(p *ast.Node, t Type, least int64) {
	var n nodes
	ast.Walk(p, &n)
	steps := max(least, int64(n)*nodeSteps)
	c.uncharged(p, fmt.Sprint("steps ", steps), func(args ...any) (any, error) {
		c.budget.Step(steps)
		return args[0], nil
	}, t, *p)
}

// forJSON takes what it takes to write its argument, which it returns, as JSON.
func (b *Budget) forJSON(args ...any) (any, error) {
	bytes := b.weigh(args[0])
	b.Take(6 * bytes)
	b.Step(otherSteps + 16*bytes)
	return args[0], nil
}

// nodes is a number of nodes.
type nodes int

// Visit implements ast.Visitor.
func (n *nodes) Visit(*ast.Node) { *n++ }

// sortSteps takes the steps of sorting or grouping an array, which it returns, in the virtual machine.
func (b *Budget) sortSteps(args ...any) (any, error) {
	n, _ := length(args[0])
	b.Step(int64(n) * int64(bits.Len(uint(n))) * itemSteps / 2)
	return args[0], nil
}

// compared returns a comparison that takes steps.
func compared[T any](b *Budget, compare func(x, y T) int) func(x, y T) int {
	n := 0
	return func(x, y T) int {
		if n++; n == lookSteps/16 {
			b.Step(lookSteps)
			n = 0
		}
		return compare(x, y)
	}
}

// growth takes memory for a function of the language whose result is larger than its arguments.
func (b *Budget) growth(name string, args []any) {
	text := func(i int) string {
		if i < len(args) {
			s, _ := args[i].(string)
			return s
		}
		return ""
	}
	switch name {
	case "repeat":
		if n, ok := integer(args[1]); ok && n > 0 {
			b.Take(product(int64(len(text(0))), n))
		}
	case "join":
		n, _ := length(args[0])
		b.Take(product(int64(n), int64(len(text(1)))))
	case "trim": // looks for each byte among those to be removed
		b.Step(product(int64(len(text(0))), int64(len(text(1)))))
	case "fromJSON":
		b.Step(product(int64(len(text(0))), parseSteps))
		b.Take(product(int64(len(text(0))), 16))
	case "replace":
		b.Step(int64(len(text(0))))
		b.Take(product(int64(strings.Count(text(0), text(1))), int64(len(text(2)))))
	}
	for _, a := range args {
		b.Take(6 * b.weigh(a)) // as JSON, a byte may take six
	}
}

// A Pattern is a regular expression whose matching takes steps.
type Pattern struct {
	*regexp.Regexp
	size int64 // instructions
}

// maxPattern is how many instructions a pattern may have: each may be looked at for each character.
const maxPattern = 20_000

// ParsePattern returns the pattern of a text.
func ParsePattern(text string) (*Pattern, error) { return new(Budget).pattern(text) }

// pattern is ParsePattern, and takes the steps of that.
func (b *Budget) pattern(text string) (*Pattern, error) {
	b.Step(lookSteps)
	if len(text) > 8*maxPattern {
		return nil, fmt.Errorf("a pattern of %d bytes, which is more than %d", len(text), 8*maxPattern)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	size := instructions(tree)
	if size > maxPattern {
		return nil, fmt.Errorf("a pattern of some %d instructions, which is more than %d", size, maxPattern)
	}
	b.Step(size * buildSteps)
	re, err := regexp.Compile(text)
	return &Pattern{re, size}, err
}

// instructions returns about how many instructions a pattern is compiled to.
func instructions(re *syntax.Regexp) int64 {
	n := 1 + int64(len(re.Rune))
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= int64(max(re.Min, re.Max, 1))
	}
	return n
}

// Match reports whether a pattern matches a text.
func (b *Budget) Match(p *Pattern, text []byte) bool {
	steps := p.size * matchSteps
	if all := steps * int64(len(text)); all < lookSteps {
		b.Step(all)
		return p.Match(text)
	}
	return p.MatchReader(&steppedText{text, steps, b})
}

// A steppedText takes steps for each character that is read.
type steppedText struct {
	text  []byte
	steps int64
	*Budget
}

func (s *steppedText) ReadRune() (rune, int, error) {
	if len(s.text) == 0 {
		return 0, 0, io.EOF
	}
	s.Step(s.steps)
	r, n := utf8.DecodeRune(s.text)
	s.text = s.text[n:]
	return r, n, nil
}
