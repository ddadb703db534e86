// Package serve implements the commands of rnt that serve files to other programs: serve, with
// Arrow Flight, and page, in a browser.
package serve

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// Commands returns the commands serve and page.
func Commands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{serveCommand(t), pageCommand(t)}
}
