// Package histogram implements the command draw of rnt, which fills histograms of expressions and
// prints them as text, images or bins.
package histogram

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// Commands returns the commands that draw histograms.
func Commands(t *cli.Tool) []*cobra.Command { return []*cobra.Command{drawCommand(t)} }
