package formula

import (
	"context"
	"fmt"
	"io"
	"math"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// A Budget bounds what an evaluation takes: memory, and steps, of which one is about a value of a
// column. What exceeds it, or goes on after the context is done, panics with a *Stop. The zero
// value has no bounds. A Budget must not be used by several goroutines at once.
type Budget struct {
	Bytes, Steps int64 // that are left
	limit        int64 // bytes
	stepLimit    int64 // bytes, for Steps
	number       int64 // of what Steps are for
	ctx          context.Context
	looked       int64 // Steps when the context was looked at last
}

// StepsPerByte is how many steps there are for each byte of memory.
const StepsPerByte = 16

const (
	buildSteps = 256     // steps of an instruction of a pattern, when it is compiled
	matchSteps = 4       // of an instruction of a pattern, for each character
	lookSteps  = 1 << 16 // between two looks at the context: well below 10 ms
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

// Begin fills the budget of memory. The budget of steps, for which there is a limit of bytes of its
// own, is filled if what it is for has another number than before.
func (b *Budget) Begin(ctx context.Context, limit, limitOfSteps, number int64) {
	b.Bytes, b.limit, b.ctx = limit, limit, ctx
	if b.stepLimit != limitOfSteps || b.number != number || b.Steps == 0 {
		b.Steps, b.stepLimit, b.number = math.MaxInt64, limitOfSteps, number
		if limitOfSteps < math.MaxInt64/StepsPerByte {
			b.Steps = limitOfSteps * StepsPerByte
		}
	}
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
	if b.Steps < 0 && b.stepLimit > 0 {
		panic(&Stop{Steps: true, Need: b.stepLimit - max(b.Steps, b.stepLimit-math.MaxInt64)/StepsPerByte,
			Limit: b.stepLimit})
	}
}

// Compared returns a comparison that takes steps.
func Compared[T any](b *Budget, compare func(x, y T) int) func(x, y T) int {
	n := 0
	return func(x, y T) int {
		if n++; n == lookSteps/16 {
			b.Step(lookSteps)
			n = 0
		}
		return compare(x, y)
	}
}

// A Pattern is a regular expression whose matching takes steps.
type Pattern struct {
	*regexp.Regexp
	size int64 // instructions
}

// MaxPattern is how many instructions a pattern may have, or all literal ones of an expression:
// each may be looked at for each character.
const MaxPattern = 20_000

// ParsePattern returns the pattern of a text. It takes the steps of that.
func (b *Budget) ParsePattern(text string) (*Pattern, error) {
	b.Step(lookSteps)
	if len(text) > 8*MaxPattern {
		return nil, fmt.Errorf("a pattern of %d bytes, which is more than %d", len(text), 8*MaxPattern)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	size := instructions(tree)
	if size > MaxPattern {
		return nil, fmt.Errorf("a pattern of some %d instructions, which is more than %d", size, MaxPattern)
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

// Size returns about how many instructions the pattern has.
func (p *Pattern) Size() int64 { return p.size }

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
