package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
)

// families are those of all commands.
var families = []cli.Family{showCommands, drawCommands, convertCommands, editCommands, checkCommands, serveCommands}

func main() {
	os.Exit(cli.New(os.Stdin, os.Stdout, os.Stderr, families...).RunUntilSignal(os.Args[1:]))
}

// run runs a new tool and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.New(stdin, stdout, stderr, families...).Run(ctx, args)
}
func showCommands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{lsCommand(t), schemaCommand(t), catCommand(t), headCommand(t), tailCommand(t), statCommand(t), dumpCommand(t), attrsCommand(t)}
}
func drawCommands(t *cli.Tool) []*cobra.Command { return []*cobra.Command{drawCommand(t)} }
func convertCommands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{arrowCommand(t), convertCommand(t)}
}
func editCommands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{
		createCommand(t), mergeCommand(t), slimCommand(t), skimCommand(t), concatCommand(t), splitCommand(t), hmergeCommand(t),
		planCommand(t), repackCommand(t), appendCommand(t), renameCommand(t), indexCommand(t),
	}
}
func checkCommands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{verifyCommand(t), diffCommand(t), recoverCommand(t)}
}
func serveCommands(t *cli.Tool) []*cobra.Command {
	return []*cobra.Command{serveCommand(t), pageCommand(t)}
}
