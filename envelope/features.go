package envelope

import (
	"fmt"
	"math/bits"

	"github.com/go-rntuple/go-rntuple/frame"
)

// Features are the feature flags of an RNTuple as stored: 63 flags to a word. The
// top bit of a word says that another word follows. There is at least one word.
type Features []uint64

// The features that readers must know.
const (
	// FeatureNestedDeferred says that columns under a collection or a variant
	// may be deferred (format 1.0.2.1).
	FeatureNestedDeferred = 0
)

const continued = 1 << 63

// Has reports whether flag n is set.
func (f Features) Has(n int) bool {
	return n >= 0 && n/64 < len(f) && n%64 != 63 && f[n/64]>>(n%64)&1 != 0
}

// Supported returns an error that wraps frame.ErrUnsupported and names the first
// flag that this library does not know; nil if it knows all.
func (f Features) Supported() error {
	for i, w := range f {
		w &^= continued
		if i == 0 {
			w &^= 1 << FeatureNestedDeferred
		}
		if w != 0 {
			return frame.Unsupported("unknown feature flag %d: the file needs a newer reader", 64*i+bits.TrailingZeros64(w))
		}
	}
	return nil
}

// Wire describes the feature flags. Specification: "Feature Flags".
func (f *Features) Wire(c *frame.Codec) {
	c.Within("feature flags", func() {
		if c.Writing() {
			words := *f
			if len(words) == 0 {
				words = Features{0}
			}
			for i, w := range words {
				if last := i == len(words)-1; (w&continued == 0) != last {
					c.Fail("", fmt.Errorf("word %d, %#x, of %d", i, w, len(words)))
				}
				frame.Int(c, "word", &w)
			}
			return
		}
		*f = nil
		for w := uint64(continued); w&continued != 0 && c.Err() == nil; {
			w = 0
			frame.Int(c, "word", &w)
			*f = append(*f, w)
		}
	})
}
