package formula

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reference/expressions.md and docs/reference/functions.md")

// TestDocumentation compares docs/reference/expressions.md and docs/reference/functions.md with the
// tables.
func TestDocumentation(t *testing.T) {
	for path, want := range map[string]string{"../../docs/reference/functions.md": Functions(),
		"../../docs/reference/expressions.md": Expressions()} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if read(t, path) != want {
			t.Errorf("%s differs from the code; go test ./internal/formula -update writes it", path)
		}
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

// TestHelp makes sure that the listing has all functions, operators and rules, in lines that fit a
// terminal.
func TestHelp(t *testing.T) {
	help := Help()
	var all []string
	for _, f := range Table {
		all = append(all, f.String())
	}
	for _, s := range Language {
		all = append(all, s.Title+":\n")
		for _, r := range s.Rows {
			all = append(all, "  "+strings.Join(r.Forms, "  "))
		}
	}
	for _, name := range all {
		if !strings.Contains(help, name) {
			t.Errorf("%q is not listed", name)
		}
	}
	for _, line := range strings.Split(help, "\n") {
		if len(line) > 80 || strings.TrimRight(line, " ") != line {
			t.Errorf("%q", line)
		}
	}
}

// TestParameters makes sure that errors can name what each argument is.
func TestParameters(t *testing.T) {
	for _, f := range Table {
		for i, p := range f.Parameters() {
			if text := p.String(); !strings.HasPrefix(text, "a") {
				t.Errorf("argument %d of %s is %q", i+1, f, text)
			}
		}
	}
}
