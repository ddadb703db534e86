// Package edit implements the commands of rnt that create and modify RNTuples: create, merge, slim,
// skim, concat, split, hmerge, repack, append, rename, index and plan.
package edit

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// Commands returns the commands that make and change RNTuples.
func Commands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{
		createCommand(t), mergeCommand(t), slimCommand(t), skimCommand(t), concatCommand(t),
		splitCommand(t), hmergeCommand(t),
		planCommand(t), repackCommand(t), appendCommand(t), renameCommand(t), indexCommand(t),
	}
}
