package arch

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSpecMap makes sure that all symbols and tests that docs/notes/spec-map.md names
// are there.
func TestSpecMap(t *testing.T) {
	folders := map[string]string{}
	for _, folder := range slices.Concat(leaves, layers) {
		folders[path.Base(folder)] = folder
	}
	spec := read(t, "../../docs/notes/spec-map.md")
	named := regexp.MustCompile("`(\\w+)\\.(?:(\\w+)\\.)?(\\w+)`").FindAllStringSubmatch(spec, -1)
	if len(named) < 100 {
		t.Errorf("only %d names found", len(named))
	}
	for _, n := range named {
		folder, receiver, name := folders[n[1]], n[2], n[3]
		files, err := filepath.Glob("../../" + folder + "/*.go")
		if err != nil || folder == "" || len(files) == 0 {
			t.Errorf("%s: no such package", n[0])
			continue
		}
		declared := regexp.MustCompile(`(?m)^(func (\(.*\) )?|type |\t|const |var )` + name + `\b`)
		if receiver != "" { // a method, or a member of a struct
			declared = regexp.MustCompile(`(?m)^(func \((\w+ )?\*?` + receiver + `\) ` + name + `\(|\t` + name + `\b|\t.*, ` + name + ` )`)
			if name == "TypeAlias" { // comes with envelope.Field
				folder = "envelope"
				files, _ = filepath.Glob("../../envelope/*.go")
			}
		}
		var all strings.Builder
		for _, f := range files {
			all.WriteString(read(t, f))
		}
		if !declared.MatchString(all.String()) {
			t.Errorf("%s is not declared in %s", n[0], folder)
		}
	}
}

// TestArchitecture makes sure that the table in docs/notes/architecture.md has the packages of
// the library in the order of their imports.
func TestArchitecture(t *testing.T) {
	var got []string
	table := read(t, "../../docs/notes/architecture.md")
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\|").FindAllStringSubmatch(table, -1) {
		got = append(got, row[1])
	}
	if !slices.Equal(got, layers) {
		t.Errorf("the table has %v, want %v", got, layers)
	}
}

// TestReadme makes sure that the Go code of the README is that of the examples,
// which are compiled and run.
func TestReadme(t *testing.T) {
	fold := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	examples := fold(strings.ReplaceAll(read(t, "../../rntuple/example_test.go")+read(t, "../../rntuple/example_dataset_test.go")+read(t, "../../rntuple/example_write_test.go")+read(t, "../../rntuple/surgery/example_readme_test.go")+read(t, "../../remote/example_test.go")+read(t, "../../bridge/rntbeam/example_readme_test.go")+read(t, "../../examples/select/main.go"), "(sample,", `("data.root",`))
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, "../../README.md"), -1)
	if len(blocks) == 0 {
		t.Error("no Go code in the README")
	}
	for _, b := range blocks {
		if !strings.Contains(examples, fold(b[1])) {
			t.Errorf("this code is in no example:\n%s", b[1])
		}
	}
}
