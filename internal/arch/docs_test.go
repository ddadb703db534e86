package arch

import (
	"io/fs"
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
			declared = regexp.MustCompile(`(?m)^(func \((\w+ )?\*?` + receiver + `\) ` + name + `\(|\t` + name + `\b|\t.*, ` +
				name + ` )`)
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
	_, table, _ := strings.Cut(read(t, "../../docs/notes/architecture.md"), "\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\|").FindAllStringSubmatch(table, -1) {
		got = append(got, row[1])
	}
	if !slices.Equal(got, layers) {
		t.Errorf("the table has %v, want %v", got, layers)
	}
}

// pages returns the documents in Markdown by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range files(t, ".md") {
		all[path] = read(t, path)
	}
	return all
}

// files returns the paths of all files of the repository whose names end in a suffix.
func files(t *testing.T, suffix string) (all []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == ".venv"):
			return fs.SkipDir
		case strings.HasSuffix(path, suffix):
			all = append(all, filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestGoCode makes sure that the Go code of all documents is that of examples, which are
// compiled and run.
func TestGoCode(t *testing.T) {
	fold := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	var code strings.Builder
	for _, path := range files(t, ".go") {
		text := read(t, path)
		if strings.Contains(path, "/examples/") || strings.HasSuffix(path, "_test.go") &&
			strings.Contains(text, "\nfunc Example") {
			code.WriteString(strings.ReplaceAll(text, "(sample,", `("data.root",`))
		}
	}
	compiled := fold(code.String())
	found := 0
	for path, text := range pages(t) {
		for _, b := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(text, -1) {
			found++
			if !strings.Contains(compiled, fold(b[1])) {
				t.Errorf("%s: this code is in no example:\n%s", path, b[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d blocks of Go code found", found)
	}
}

// TestLinks makes sure that links between documents lead to a file, and to a heading of it.
func TestLinks(t *testing.T) {
	all, code := pages(t), regexp.MustCompile("(?s)```.*?```")
	for path, text := range all {
		all[path] = code.ReplaceAllString(text, "")
	}
	anchors := func(text string) (names []string) {
		for _, h := range regexp.MustCompile("(?m)^#+ (.*)$").FindAllStringSubmatch(text, -1) {
			name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(h[1]), "")
			names = append(names, strings.ReplaceAll(name, " ", "-"))
		}
		return names
	}
	for page, text := range all {
		for _, l := range regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`).FindAllStringSubmatch(text, -1) {
			target := page
			if l[1] != "" {
				target = path.Join(path.Dir(page), l[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s", page, l[0])
			} else if l[2] != "" && !slices.Contains(anchors(all[target]), l[2]) {
				t.Errorf("%s: %s: no such heading", page, l[0])
			}
		}
	}
}

// TestIndex makes sure that the index of the documents has all of them.
func TestIndex(t *testing.T) {
	index := read(t, "../../docs/README.md")
	for page := range pages(t) {
		name, ok := strings.CutPrefix(page, "../../docs/")
		if ok && name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("the index lacks %s", name)
		}
	}
}

// TestPaths makes sure that the documents that code and messages name are there.
func TestPaths(t *testing.T) {
	named := regexp.MustCompile(`\bdocs/[a-z/-]+\.[a-z]+`)
	for _, suffix := range []string{".go", ".py", ".ci/stages"} {
		for _, path := range files(t, suffix) {
			for _, name := range named.FindAllString(read(t, path), -1) {
				if _, err := os.Stat("../../" + name); err != nil {
					t.Errorf("%s names %s", path, name)
				}
			}
		}
	}
}
