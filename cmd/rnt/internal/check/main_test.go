package check

import (
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
)

const (
	dimuon  = "../../../../testdata/dimuon.root"
	special = "../../../../testdata/good/special_"
	shared  = "../../../../../shared/testdata"
)

var tool = clitest.Tool{Commands}

// decode runs a command and decodes the JSON that it prints.
func decode[T any](t *testing.T, args ...string) T {
	t.Helper()
	return clitest.Decode[T](t, tool.RNT(t, args...))
}
