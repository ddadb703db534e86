package formula

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/functions.md")

// TestDocumentation compares docs/functions.md with the table.
func TestDocumentation(t *testing.T) {
	const path = "../../docs/functions.md"
	if *update {
		if err := os.WriteFile(path, []byte(Markdown()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(got), "\r\n", "\n") != Markdown() {
		t.Errorf("%s differs from the table; go test ./internal/formula -update writes it", path)
	}
}

// TestHelp makes sure that the listing has all functions, in lines that fit a terminal.
func TestHelp(t *testing.T) {
	help := Help()
	for _, f := range Table {
		if !strings.Contains(help, "  "+f.String()) {
			t.Errorf("%s is not listed", f)
		}
	}
	for _, line := range strings.Split(help, "\n") {
		if len(line) > 80 || strings.TrimRight(line, " ") != line {
			t.Errorf("%q", line)
		}
	}
}
