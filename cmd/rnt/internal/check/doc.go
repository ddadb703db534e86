// Package check implements the commands of rnt that check, compare and recover files: verify, diff
// and recover.
package check

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// Commands returns the commands verify, diff and recover.
func Commands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{verifyCommand(t), diffCommand(t), recoverCommand(t)}
}
