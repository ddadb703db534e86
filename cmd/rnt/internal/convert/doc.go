// Package convert implements the commands of rnt that convert between RNTuples and other formats:
// convert and arrow.
package convert

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// Commands returns the commands that convert between RNTuples and other formats.
func Commands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{arrowCommand(t), convertCommand(t)}
}
