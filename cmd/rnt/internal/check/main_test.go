package check

import "github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"

const (
	dimuon  = "../../../../testdata/dimuon.root"
	special = "../../../../testdata/good/special_"
	shared  = "../../../../../shared/testdata"
)

var tool = clitest.Tool{Commands}
