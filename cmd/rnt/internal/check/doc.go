// Package check has the commands of rnt that check files for damage, compare them, and save what
// is left of them: verify, diff and recover.
package check

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// Commands returns the commands that check and compare files, and save what is left of them.
func Commands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{verifyCommand(t), diffCommand(t), recoverCommand(t)}
}
