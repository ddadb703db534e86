package serve

import "github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"

const dimuon = "../../../../testdata/dimuon.root"

var tool = clitest.Tool{Commands}
