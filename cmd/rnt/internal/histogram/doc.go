// Package histogram has the command draw of rnt, which fills histograms of expressions and draws
// them: with characters, as pictures, or as their bins.
package histogram

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// Commands returns the commands that draw histograms.
func Commands(t *cli.Tool) []*cobra.Command { return []*cobra.Command{drawCommand(t)} }
