package rntbeam

import (
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
)

// A tracker tracks which blocks of a restriction have been claimed. Positions are numbers of
// blocks. It splits where blocks end, which is where clusters do.
type tracker struct {
	rest    Restriction
	claimed int // blocks
	err     error
}

var _ sdf.RTracker = (*tracker)(nil)

// TryClaim claims the next block.
func (t *tracker) TryClaim(position any) bool {
	block, ok := position.(int)
	switch {
	case t.err != nil:
		return false
	case !ok || block != t.claimed:
		t.err = fmt.Errorf("rntbeam: claimed block %v, and not %d", position, t.claimed)
		return false
	case block == len(t.rest.Ends):
		return false
	}
	t.claimed++
	return true
}

func (t *tracker) GetError() error { return t.err }

// TrySplit gives away the blocks behind a fraction of the cost of those that are not claimed.
func (t *tracker) TrySplit(fraction float64) (primary, residual any, err error) {
	n := len(t.rest.Ends)
	left, at := float64(t.rest.cost(t.claimed, n)), t.claimed
	kept := 0.0
	for at < n && kept < min(fraction, 1)*left {
		kept += float64(t.rest.Costs[at])
		at++
	}
	if left == 0 { // as of empty collections
		at = t.claimed + int(max(0, min(fraction, 1))*float64(n-t.claimed))
	}
	if at == n {
		return t.rest, nil, nil
	}
	rest := t.rest
	t.rest = rest.part(0, at)
	return t.rest, rest.part(at, n), nil
}

// GetProgress returns the bytes of the blocks that are read, and of the others. The last one that
// was claimed counts as half read.
func (t *tracker) GetProgress() (done, remaining float64) {
	n := len(t.rest.Ends)
	done, remaining = float64(t.rest.cost(0, t.claimed)), float64(t.rest.cost(t.claimed, n))
	if t.claimed > 0 && remaining > 0 {
		half := float64(t.rest.Costs[t.claimed-1]) / 2
		done, remaining = done-half, remaining+half
	}
	return done, remaining
}

func (t *tracker) IsDone() bool { return t.err == nil && t.claimed == len(t.rest.Ends) }

func (t *tracker) GetRestriction() any { return t.rest }
