package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestPanic makes sure that a panic is an error of the command, without a trace unless it is
// wanted.
func TestPanic(t *testing.T) {
	for _, setting := range []string{"", "all"} {
		t.Setenv("GOTRACEBACK", setting)
		var stderr strings.Builder
		tool := New(nil, &stderr, &stderr)
		root := &cobra.Command{Use: "rnt", SilenceErrors: true, SilenceUsage: true, PersistentPreRunE: tool.begin}
		root.AddCommand(&cobra.Command{Use: "fail", Run: func(*cobra.Command, []string) { panic("broken\ngoroutine 1") }})
		root.SetArgs([]string{"fail"})
		cmd, err := tool.execute(t.Context(), root)
		status := tool.exit(t.Context(), cmd, err)
		if text := stderr.String(); status != ExitError || !strings.Contains(text, `internal error in "rnt fail": broken;`) ||
			strings.Contains(text, "goroutine") != (setting != "") {
			t.Errorf("status %d, %s", status, text)
		}
	}
}
