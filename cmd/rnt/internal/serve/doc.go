// Package serve has the commands of rnt that bring files to other programs: serve, as streams of
// Arrow Flight, and page, in a browser.
package serve

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// Commands returns the commands that serve files, or make pages of them.
func Commands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{serveCommand(t), pageCommand(t)}
}
