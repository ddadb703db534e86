// Package arch holds the tests of the module's structure.
package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/go-rntuple/go-rntuple/"

// layers are the library's packages from the ground up. A package imports only
// those above it in this list.
var layers = []string{
	"internal/wire", "internal/bits", "internal/cpptype", "internal/checksum", "internal/inflate", "internal/lz4enc", "internal/zstd",
	"frame", "locator", "compress", "anchor", "column", "value",
	"envelope", "schema",
	"internal/legacy/lift", "internal/legacy/v0", "internal/legacy/rc1", "internal/legacy/rc2", "internal/legacy",
	"internal/jsonl", "internal/mmap", "internal/reflink", "internal/parallel", "internal/rootfile",
	"internal/pagesource", "internal/pagesink", "internal/pagecopy", "internal/ntuple", "internal/field", "internal/dump",
	"rntuple", "compare", "rescue", "verify", "surgery", "surgery/where",
}

// owners says which packages alone import an outside module.
var owners = map[string][]string{
	"github.com/klauspost/compress": {"compress"},
	"github.com/pierrec/lz4":        {"compress"},
	"github.com/ulikunitz/xz":       {"compress"},
	"github.com/cespare/xxhash":     {"compress", "internal/zstd"},
	"github.com/zeebo/xxh3":         {"internal/checksum"},
	"github.com/expr-lang/expr":     {"surgery/where"},
}

// apart are packages that must not import each other, though one is below the other.
var apart = map[string]string{"internal/pagesink": "internal/pagesource"}

// standardOnly are the packages at the bottom.
var standardOnly = []string{"internal/wire", "internal/bits", "internal/mmap", "internal/cpptype", "value"}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(pkg.ImportPath, module)
		level := slices.Index(layers, name)
		if level < 0 {
			continue // tools, examples and what tests need
		}
		seen++
		for _, path := range pkg.Imports {
			if ours, ok := strings.CutPrefix(path, module); ok {
				if i := slices.Index(layers, ours); i < 0 || i >= level {
					t.Errorf("%s imports %s, which is not below it", name, ours)
				}
				if apart[name] == ours {
					t.Errorf("%s imports %s, from which it must be kept apart", name, ours)
				}
			} else if strings.Contains(path, ".") {
				if !slices.ContainsFunc(keys(owners), func(m string) bool { return strings.HasPrefix(path, m) && slices.Contains(owners[m], name) }) {
					t.Errorf("%s imports %s", name, path)
				}
				if slices.Contains(standardOnly, name) {
					t.Errorf("%s imports %s, but should need the standard library only", name, path)
				}
			}
		}
	}
	if seen != len(layers) {
		t.Errorf("%d of %d packages found", seen, len(layers))
	}
}

func keys(m map[string][]string) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}
