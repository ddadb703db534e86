package arch

import (
	"encoding/json"
	"errors"
	"flag"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// public are the packages that users import.
var public = []string{
	"anchor", "column", "compress", "container", "envelope", "frame", "locator",
	"remote", "remote/https", "remote/objects", "remote/xrootd",
	"rntuple", "rntuple/columnar", "rntuple/compare", "rntuple/cpp", "rntuple/expression", "rntuple/rescue",
	"rntuple/surgery", "rntuple/verify", "rntuple/workunits", "rntuple/zonemap",
	"schema", "schema/cpptype", "value",
}

var update = flag.Bool("update", false, "write api/api.txt")

// TestPublic makes sure that public has all packages that users can import.
func TestPublic(t *testing.T) {
	for name := range packages(t) {
		// test/interop has tests only.
		want := !slices.Contains(strings.Split(name, "/"), "internal") && name != "test/interop"
		if moduleOf(name) == "." && slices.Contains(public, name) != want {
			t.Errorf("package %s in the list: %v, want %v", name, !want, want)
		}
	}
}

// TestPublicTypes makes sure that users can name every type in the public API.
func TestPublicTypes(t *testing.T) {
	n := 0
	for _, s := range publicSymbols(t) {
		n++
		for _, name := range s.hidden {
			t.Errorf("%s: users cannot name the type %s", s.text, name)
		}
	}
	if n < 1000 {
		t.Errorf("only %d lines found", n)
	}
}

// TestAPI makes sure that api/api.txt has the public API, so that each change of it is seen.
func TestAPI(t *testing.T) {
	const file = "../../api/api.txt"
	var got []string
	for _, s := range publicSymbols(t) {
		got = append(got, s.text)
	}
	slices.Sort(got)
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Split(strings.TrimSuffix(read(t, file), "\n"), "\n")
	if slices.Equal(got, want) {
		return
	}
	t.Error("The public API has changed. If that is intended, run this, and read the difference:\n" +
		"\tgo test ./internal/arch -run TestAPI -update")
	for _, line := range want {
		if _, found := slices.BinarySearch(got, line); !found {
			t.Log("- " + line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Log("+ " + line)
		}
	}
}

// publicSymbols returns the symbols of all public packages.
func publicSymbols(t *testing.T) (all []symbol) {
	t.Helper()
	load := loader(t)
	for _, name := range public {
		pkg, err := load.Import(module + name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, symbolsOf(pkg)...)
	}
	return all
}

// TestExamples makes sure that every public package has an example, and that
// examples use what users can import.
func TestExamples(t *testing.T) {
	for _, name := range public {
		files, err := filepath.Glob("../../" + name + "/example*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, f := range files {
			all.WriteString(read(t, f))
		}
		text := all.String()
		runs := strings.Contains(text, "// Output:") || name == "remote/xrootd" // which would need a server
		if !strings.Contains(text, "\nfunc Example") || !runs {
			t.Errorf("package %s has no example", name)
		} else if strings.Contains(text, module+"internal/") ||
			!strings.HasPrefix(text, "package "+filepath.Base(name)+"_test\n") {
			t.Errorf("the examples of package %s are not written from outside", name)
		}
	}
}

// loader returns an importer of the public packages, compiled.
func loader(t *testing.T) types.Importer {
	t.Helper()
	if dir, err := os.UserCacheDir(); os.Getenv("GOCACHE") == "" && (err != nil || os.MkdirAll(dir, 0o700) != nil) {
		t.Skipf("skipped: the go command, which lists the packages, has no place for its cache (%s)", dir)
	}
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export"}
	for _, name := range public {
		args = append(args, module+name)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct{ ImportPath, Export string }
		if err := d.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[pkg.ImportPath] = pkg.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}
