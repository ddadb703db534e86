package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// families are those of all commands.
var families = []family{showCommands, drawCommands, convertCommands, editCommands, checkCommands, serveCommands}

func main() {
	os.Exit(newTool(os.Stdin, os.Stdout, os.Stderr, families...).runUntilSignal(os.Args[1:]))
}

// run runs a new tool and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newTool(stdin, stdout, stderr, families...).run(ctx, args)
}
func showCommands(t *tool) []*cobra.Command {
	return []*cobra.Command{lsCommand(t), schemaCommand(t), catCommand(t), headCommand(t), tailCommand(t), statCommand(t), dumpCommand(t), attrsCommand(t)}
}
func drawCommands(t *tool) []*cobra.Command { return []*cobra.Command{drawCommand(t)} }
func convertCommands(t *tool) []*cobra.Command {
	return []*cobra.Command{arrowCommand(t), convertCommand(t)}
}
func editCommands(t *tool) []*cobra.Command {
	return []*cobra.Command{
		createCommand(t), mergeCommand(t), slimCommand(t), skimCommand(t), concatCommand(t), splitCommand(t), hmergeCommand(t),
		planCommand(t), repackCommand(t), appendCommand(t), renameCommand(t), indexCommand(t),
	}
}
func checkCommands(t *tool) []*cobra.Command {
	return []*cobra.Command{verifyCommand(t), diffCommand(t), recoverCommand(t)}
}
func serveCommands(t *tool) []*cobra.Command {
	return []*cobra.Command{serveCommand(t), pageCommand(t)}
}
