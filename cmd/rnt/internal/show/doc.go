// Package show implements the commands of rnt that print the contents of files: ls, schema, cat,
// head, tail, stat, dump and attrs.
package show

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// Commands returns the commands that show what files hold.
func Commands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{lsCommand(t), schemaCommand(t), catCommand(t), headCommand(t), tailCommand(t), statCommand(t),
		dumpCommand(t), attrsCommand(t)}
}
