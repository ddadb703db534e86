package main

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// serveCommands returns the commands that serve files, or make pages of them.
func serveCommands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{serveCommand(t), pageCommand(t)}
}
