package surgery

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
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

// TestSourceErrors says which input an error is about, and where in it, once.
func TestSourceErrors(t *testing.T) {
	s := &source{index: 2, path: "f.root", name: "f.root:n"}
	err := s.failIn("cluster 3", errDead)
	if err == nil || err.Error() != "f.root:n: cluster 3: no more writes" || !errors.Is(err, errDead) {
		t.Errorf("error %v", err)
	}
	var in *rntuple.InputError
	if !errors.As(err, &in) || in.Index != 2 || in.Path != "f.root" {
		t.Errorf("%+v", in)
	}
	if again := s.failIn("cluster 4", err); again != err {
		t.Errorf("error %v", again)
	}
	if err := (&source{}).fail(errDead); err.Error() != "no more writes" {
		t.Errorf("without a name: error %v", err)
	}
}
