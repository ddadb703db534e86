package main

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// drawCommands returns the commands that draw histograms.
func drawCommands(t *cli.Tool) []*cobra.Command { return []*cobra.Command{drawCommand(t)} }
