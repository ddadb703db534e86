package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/anchor"
)

func (t *Tool) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of rnt and of the format it reads",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return t.printVersion() },
	}
}

func (t *Tool) printVersion() error {
	_, err := fmt.Fprintln(t.Out, version())
	return err
}

// version describes the build: module version, commit, Go version, and the
// format that it reads.
func version() string {
	text := "rnt"
	if info, ok := debug.ReadBuildInfo(); ok {
		text += " " + info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				text += ", commit " + s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				text += " with changes"
			}
		}
		text += ", " + info.GoVersion
	}
	return fmt.Sprintf("%s, reads RNTuple format %d", text, anchor.Epoch)
}
