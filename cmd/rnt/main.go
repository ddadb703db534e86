package main

import (
	"os"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/check"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/convert"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/edit"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/histogram"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/serve"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/show"
)

// families are those of all commands.
var families = []cli.Family{show.Commands, histogram.Commands, convert.Commands, edit.Commands,
	check.Commands, serve.Commands}

func main() {
	os.Exit(cli.New(os.Stdin, os.Stdout, os.Stderr, families...).RunUntilSignal(os.Args[1:]))
}
