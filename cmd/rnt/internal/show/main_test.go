package show

import (
	"os"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
)

const (
	dimuon  = "../../../../testdata/dimuon.root"
	special = "../../../../testdata/good/special_"
)

var tool = clitest.Tool{Commands}

// decode runs a command and decodes the JSON that it prints.
func decode[T any](t *testing.T, args ...string) T {
	t.Helper()
	return clitest.Decode[T](t, tool.RNT(t, args...))
}

// shared returns the path of a file of the shared test data.
func shared(t *testing.T, name string) string {
	t.Helper()
	path := "../../../../../shared/testdata/root/" + name
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the shared test data are not there: %v", err)
	}
	return path
}
