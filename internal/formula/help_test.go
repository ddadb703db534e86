package formula

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/functions.md, and what docs/expressions.md says of missing values")

// TestDocumentation compares docs/functions.md with the table, and the section of docs/expressions.md
// about missing values with what Help has.
func TestDocumentation(t *testing.T) {
	const functions, expressions = "../../docs/functions.md", "../../docs/expressions.md"
	text := read(t, expressions)
	before, rest, ok1 := strings.Cut(text, "## Missing values\n\n")
	_, after, ok2 := strings.Cut(rest, "\n## ")
	if !ok1 || !ok2 {
		t.Fatalf("%s has no section about missing values", expressions)
	}
	for path, want := range map[string]string{
		functions:   Markdown(),
		expressions: before + "## Missing values\n\n" + Missing(130) + "\n## " + after,
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if read(t, path) != want {
			t.Errorf("%s differs from the code; go test ./internal/formula -update writes it", path)
		}
	}
	if !strings.Contains(Help(), strings.ReplaceAll(Missing(80), "`", "")) {
		t.Error("Help does not say what missing values mean")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
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
