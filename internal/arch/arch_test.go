package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/go-rntuple/go-rntuple/"

// layers are the library's packages from the ground up. A package imports only
// those above it in this list.
var layers = []string{
	"frame",
	"internal/bits",
	"internal/convert",
	"schema/cpptype",
	"internal/checksum",
	"internal/nearest",
	"internal/partition",
	"internal/codec/inflate",
	"internal/codec/lz4",
	"internal/codec/lzma",
	"internal/codec/zstd",
	"locator",
	"compress",
	"anchor",
	"column",
	"value",
	"envelope",
	"schema",
	"rntuple/zonemap",
	"internal/bounds",
	"rntuple/columnar",
	"internal/pattern",
	"internal/metadata",
	"internal/legacy/lift",
	"internal/legacy/v0",
	"internal/legacy/rc1",
	"internal/legacy/rc2",
	"internal/legacy",
	"internal/jsonl",
	"internal/disk/tempfile",
	"internal/disk/regular",
	"internal/disk/mmap",
	"internal/disk/reflink",
	"remote/objects",
	"internal/location",
	"remote",
	"internal/disk/diskfile",
	"internal/parallel",
	"internal/bufpool",
	"internal/rootfile",
	"internal/input",
	"container",
	"internal/pagesource",
	"internal/pagesink",
	"internal/pagecopy",
	"internal/ntuple",
	"internal/entrance",
	"internal/field",
	"internal/zone",
	"internal/show/dump",
	"internal/formula",
	"internal/syntax",
	"rntuple/cpp",
	"rntuple",
	"rntuple/workunits",
	"rntuple/expression",
	"rntuple/compare",
	"rntuple/rescue",
	"rntuple/verify",
	"rntuple/surgery",
}

// leaves are all other packages: programs, bridges, and what tests need. No
// package of the library imports one, outside of its tests.
var leaves = []string{
	"test/bench",
	"test/bench/go",
	"test/bench/peers",
	"test/bench/work",
	"cmd/rnt",
	"cmd/rnt/internal/check",
	"cmd/rnt/internal/cli",
	"cmd/rnt/internal/clitest",
	"cmd/rnt/internal/convert",
	"cmd/rnt/internal/edit",
	"cmd/rnt/internal/foreign",
	"cmd/rnt/internal/histogram",
	"cmd/rnt/internal/operation",
	"cmd/rnt/internal/plot",
	"cmd/rnt/internal/selection",
	"cmd/rnt/internal/serve",
	"cmd/rnt/internal/show",
	"cmd/rnt/internal/source",
	"cmd/rnt/internal/terminal",
	"cmd/rnt/internal/text",
	"cmd/rnt/internal/units",
	"examples/dimuon",
	"examples/select",
	"examples/write",
	"internal/arch",
	"internal/show/draw",
	"internal/show/draw/drawtest",
	"internal/test/fencetest",
	"internal/test/golden",
	"internal/test/oddity",
	"internal/test/pagetest",
	"internal/test/powercut",
	"internal/test/randtest",
	"internal/test/oracle",
	"internal/test/remotetest",
	"internal/test/sampletest",
	"internal/show/storagemap",
	"internal/show/textout",
	"internal/test/wiretest",
	"test/interop",
	"remote/https",
	"remote/internal/credential",
	"remote/s3",
	"remote/s3/gateway",
	"remote/s3/internal/limits",
	"remote/xrootd",
	"bridge/librntuple",
	"bridge/rntarrow",
	"bridge/rntarrow/internal/arrowtest",
	"bridge/rntarrow/internal/guard",
	"bridge/rntarrow/rntflight",
	"bridge/rntarrow/rntparquet",
	"bridge/rntbeam",
	"bridge/rntbeam/examples/dimuon",
	"bridge/rntbeam/parquet",
	"bridge/rntbeam/ttree",
	"bridge/rntgroot",
	"bridge/rntgroot/internal/fromtree",
	"viewer",
	"viewer/build",
	"viewer/engine",
	"viewer/test",
	"viewer/wasm",
}

// families are the packages with the commands of rnt, which only its main package imports.
var families = []string{
	"cmd/rnt/internal/check",
	"cmd/rnt/internal/convert",
	"cmd/rnt/internal/edit",
	"cmd/rnt/internal/histogram",
	"cmd/rnt/internal/serve",
	"cmd/rnt/internal/show",
}

// owners says which packages of the library alone import an outside module.
var owners = map[string][]string{
	"github.com/klauspost/compress": {"compress"},
	"github.com/pierrec/lz4":        {"compress"},
	"github.com/ulikunitz/xz":       {"compress"},
	"github.com/cespare/xxhash":     {"compress", "internal/codec/zstd"},
	"github.com/zeebo/xxh3":         {"internal/checksum"},
	"golang.org/x/sys":              {"internal/disk/diskfile"},
}

// apart are packages that must not import each other, though one is below the other.
var apart = map[string]string{"internal/pagesink": "internal/pagesource"}

// standardOnly are the packages at the bottom.
var standardOnly = []string{"frame", "internal/bits", "internal/convert", "internal/disk/mmap", "schema/cpptype",
	"internal/nearest", "value"}

// libc are packages that need libc when cgo is on. Loading it takes as long as reading a value of a
// small file.
var libc = []string{"net", "net/http", "os/user"}

// inside are the modules that may import internal packages of others, with the reason. All others
// use what is public, so that a bridge of one release works with the library of the next.
var inside = map[string]string{
	"cmd/rnt":           "one product with the library, of the same version",
	"viewer":            "one product with the library, of the same version",
	"remote/s3/gateway": "tests of remote/s3, which nobody downloads",
}

// packages returns the names of the Go files of all modules, for all platforms,
// by the package's folder.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(name))
		if strings.HasSuffix(name, ".go") {
			pkg := filepath.ToSlash(folder)
			all[pkg] = append(all[pkg], name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// parse returns the files that are no tests.
func parse(t *testing.T, names []string) (files []*ast.File) {
	t.Helper()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// importPath returns the path that an import names.
func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err) // the parser accepted it
	}
	return p
}

// TestImports fails for an import that points up, for an outside module in the
// wrong place, and for a package that the lists do not name.
func TestImports(t *testing.T) {
	all := packages(t)
	for _, name := range slices.Concat(layers, leaves) {
		if all[name] == nil {
			t.Errorf("there is no package %s", name)
		}
	}
	for name, files := range all {
		level := slices.Index(layers, name)
		if level < 0 {
			if !slices.Contains(leaves, name) {
				t.Errorf("package %s is neither in layers nor in leaves", name)
			}
			continue
		}
		for _, f := range parse(t, files) {
			for _, spec := range f.Imports {
				checkImport(t, name, level, importPath(spec))
			}
		}
	}
}

// checkImport checks the import of path by a package of the library.
func checkImport(t *testing.T, name string, level int, path string) {
	t.Helper()
	if ours, ok := strings.CutPrefix(path, module); ok {
		if i := slices.Index(layers, ours); i < 0 || i >= level {
			t.Errorf("%s imports %s, which is not below it", name, ours)
		}
		if apart[name] == ours {
			t.Errorf("%s imports %s, from which it must be kept apart", name, ours)
		}
		return
	}
	if domain, _, _ := strings.Cut(path, "/"); !strings.Contains(domain, ".") {
		if slices.Contains(libc, path) {
			t.Errorf("%s imports %s, which needs libc", name, path)
		}
		return // the standard library
	}
	if slices.Contains(standardOnly, name) {
		t.Errorf("%s imports %s, but should need the standard library only", name, path)
	}
	for owned, by := range owners {
		if strings.HasPrefix(path, owned) && slices.Contains(by, name) {
			return
		}
	}
	t.Errorf("%s imports %s", name, path)
}

// TestModules fails for a module that imports internal packages of another one. Tests may use
// internal/test, because users compile none.
func TestModules(t *testing.T) {
	all, used := packages(t), map[string]bool{}
	for name, files := range all {
		own := moduleOf(name)
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range f.Imports {
				ours, ok := strings.CutPrefix(importPath(spec), module)
				switch {
				case !ok || !slices.Contains(strings.Split(ours, "/"), "internal") || moduleOf(ours) == own:
				case strings.HasSuffix(file, "_test.go") && strings.HasPrefix(ours, "internal/test/"):
				case inside[own] == "":
					t.Errorf("%s imports %s, which is internal to another module", file, ours)
				}
				used[own] = used[own] || ok && moduleOf(ours) != own
			}
		}
	}
	for _, bridge := range []string{"bridge/librntuple", "bridge/rntarrow", "bridge/rntgroot", "bridge/rntbeam",
		"remote/s3"} {
		if !used[bridge] {
			t.Errorf("%s, which is to be checked, imports nothing of other modules", bridge)
		}
	}
}

// moduleOf returns the folder of the module that a package belongs to.
func moduleOf(pkg string) string {
	for ; pkg != "."; pkg = path.Dir(pkg) {
		if _, err := os.Stat(filepath.Join("..", "..", pkg, "go.mod")); err == nil {
			break
		}
	}
	return pkg
}

// TestFamilies fails if a family of commands imports another one: what two of them need has to lie
// below both.
func TestFamilies(t *testing.T) {
	for name, files := range packages(t) {
		for _, f := range parse(t, files) {
			for _, spec := range f.Imports {
				if family, ok := strings.CutPrefix(importPath(spec), module); ok &&
					slices.Contains(families, family) && name != "cmd/rnt" {
					t.Errorf("%s imports %s", name, family)
				}
			}
		}
	}
}

// registrations are variables that another package sets when it is initialized, with the reason.
var registrations = map[string]string{
	"rntuple assigns to entrance.Reader":       "surgery, above rntuple, needs what rntuple must not export",
	"rntuple assigns to entrance.ReadOptions":  "surgery takes the same options",
	"rntuple assigns to entrance.WriteOptions": "surgery takes the same options",
}

// TestVariables fails if a package assigns to a variable of another one: what two
// packages need has to lie below both.
func TestVariables(t *testing.T) {
	for name, files := range packages(t) {
		for _, f := range parse(t, files) {
			ours := make(map[string]bool) // by the name in this file
			for _, spec := range f.Imports {
				if p := importPath(spec); spec.Name != nil {
					ours[spec.Name.Name] = strings.HasPrefix(p, module)
				} else if strings.HasPrefix(p, module) {
					ours[path.Base(p)] = true
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if assign, ok := n.(*ast.AssignStmt); ok {
					for _, left := range assign.Lhs {
						checkTarget(t, name, ours, left)
					}
				}
				return true
			})
		}
	}
}

// checkTarget checks what a package assigns to; ours are the names of packages.
func checkTarget(t *testing.T, name string, ours map[string]bool, target ast.Expr) {
	t.Helper()
	s, ok := target.(*ast.SelectorExpr)
	if !ok {
		return
	}
	pkg, ok := s.X.(*ast.Ident)
	if ok && pkg.Obj == nil && ours[pkg.Name] { // the parser knows the objects that the file declares
		if what := fmt.Sprintf("%s assigns to %s.%s", name, pkg.Name, s.Sel.Name); registrations[what] == "" {
			t.Error(what)
		}
	}
}

// TestPackageDocumentation fails for a package whose documentation is missing from its
// doc.go, or is found elsewhere.
func TestPackageDocumentation(t *testing.T) {
	for name, files := range packages(t) {
		documented := false
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
			switch {
			case err != nil:
				t.Fatal(err)
			case f.Doc == nil:
			case filepath.Base(file) == "doc.go":
				documented = true
			default:
				t.Errorf("%s documents its package, which doc.go does", file)
			}
		}
		if !documented {
			t.Errorf("package %s has no documentation in doc.go", name)
		}
	}
}
