package metadata

import (
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
)

func TestVersion(t *testing.T) {
	for _, test := range []struct {
		a    anchor.Anchor
		want string
	}{
		{anchor.Anchor{ClassVersion: 2, Epoch: 1, Minor: 2}, "1.0.2.0"},
		{anchor.Anchor{ClassVersion: 2, Major: 3}, "0.3.0.0, pre-release RC3, ROOT 6.35"},
	} {
		if got := version(&test.a); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
