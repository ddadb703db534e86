package surgery

import (
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
)

// TestSetFeature sets a flag beside those that an RNTuple has.
func TestSetFeature(t *testing.T) {
	for _, test := range []struct{ before, want envelope.Features }{
		{nil, envelope.Features{1}}, {envelope.Features{1}, envelope.Features{1}},
		{envelope.Features{1<<63 | 4, 2}, envelope.Features{1<<63 | 5, 2}},
	} {
		o := &output{Writer: &ntuple.Writer{Features: test.before}}
		o.setFeature(envelope.FeatureNestedDeferred)
		if !slices.Equal(o.Features, test.want) || !o.Features.Has(envelope.FeatureNestedDeferred) {
			t.Errorf("flags %b, want %b", o.Features, test.want)
		}
	}
}
