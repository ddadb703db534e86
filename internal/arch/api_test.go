package arch

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// public are the packages that users import.
var public = []string{"rntuple", "schema", "schema/cpptype", "value", "envelope", "frame", "locator", "column",
	"compress", "anchor", "container",
	"remote", "remote/https", "remote/xrootd", "rntuple/columnar", "rntuple/cpp", "rntuple/zonemap",
	"rntuple/expression", "rntuple/surgery",
	"rntuple/verify", "rntuple/rescue", "rntuple/compare", "rntuple/workunits"}

// hooks are exported names that may have types of internal packages, as
// "rntuple.Name" or "rntuple.Type.Method", with the reason.
var hooks = map[string]string{
	"remote.OpenObjects": "readers of RNTuples in objects see a source, others do not see objects",
	"remote.OpenAt":      "readers parse names before they open what is there",
}

// TestPublicTypes makes sure that users can name every type in the public
// packages' exported functions, methods, struct members, variables and constants:
// a type of an internal package must be spelled as an alias that a public package
// exports.
func TestPublicTypes(t *testing.T) {
	load := loader(t)
	c := apiCheck{nameable: map[*types.TypeName]bool{}, seen: map[types.Object]bool{}, used: map[string]bool{}}
	var packages []*types.Package
	for _, name := range public {
		pkg, err := load.Import(module + name)
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, pkg)
		for _, n := range pkg.Scope().Names() {
			if alias, ok := pkg.Scope().Lookup(n).(*types.TypeName); ok && alias.IsAlias() && alias.Exported() {
				if named, ok := types.Unalias(alias.Type()).(*types.Named); ok {
					c.nameable[named.Obj()] = true
				}
			}
		}
	}
	for _, pkg := range packages {
		for _, n := range pkg.Scope().Names() {
			if o := pkg.Scope().Lookup(n); o.Exported() {
				c.object(strings.TrimPrefix(pkg.Path(), module)+"."+n, o)
			}
		}
	}
	for _, problem := range c.problems {
		t.Error(problem)
	}
	if c.objects < 500 {
		t.Errorf("only %d exported names found", c.objects)
	}
	for name := range hooks {
		if !c.used[name] {
			t.Errorf("%s needs no exception", name)
		}
	}
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

// An apiCheck walks over exported names.
type apiCheck struct {
	nameable map[*types.TypeName]bool // types with an alias in a public package
	seen     map[types.Object]bool
	used     map[string]bool // of hooks
	objects  int
	problems []string
}

// object checks an exported name, which is called path.
func (c *apiCheck) object(path string, o types.Object) {
	c.objects++
	if hooks[path] != "" {
		c.used[path] = true
		return
	}
	name, ok := o.(*types.TypeName)
	if !ok {
		c.typ(path, o.Type(), internal(o.Pkg()))
		return
	}
	if alias, ok := name.Type().(*types.Alias); ok {
		if named, ok := types.Unalias(alias).(*types.Named); ok {
			c.definition(path, named)
			return
		}
		c.typ(path, alias.Rhs(), false)
		return
	}
	c.definition(path, name.Type().(*types.Named))
}

// definition checks the members and methods of a type.
func (c *apiCheck) definition(path string, named *types.Named) {
	if c.seen[named.Obj()] {
		return
	}
	c.seen[named.Obj()] = true
	within := internal(named.Obj().Pkg())
	for i := range named.TypeParams().Len() {
		c.typ(path, named.TypeParams().At(i).Constraint(), within)
	}
	c.typ(path, named.Underlying(), within)
	methods := types.NewMethodSet(types.NewPointer(named))
	for i := range methods.Len() {
		if m := methods.At(i).Obj(); m.Exported() {
			if full := path + "." + m.Name(); hooks[full] != "" {
				c.used[full] = true
			} else {
				c.objects++
				c.typ(full, m.Type(), within || internal(m.Pkg()))
			}
		}
	}
}

// typ checks a type that is part of the one called path. Within a type of an
// internal package, which has an alias, it is enough if there are aliases for its
// parts, too.
func (c *apiCheck) typ(path string, t types.Type, within bool) {
	switch t := t.(type) {
	case *types.Alias:
		if internal(t.Obj().Pkg()) {
			c.typ(path, t.Rhs(), within)
			return
		}
		for i := range t.TypeArgs().Len() {
			c.typ(path, t.TypeArgs().At(i), within)
		}
	case *types.Named:
		if o := t.Obj(); internal(o.Pkg()) && !(within && c.nameable[o]) {
			c.problems = append(c.problems, fmt.Sprintf("%s has the type %v, which users cannot name", path, t))
		}
		for i := range t.TypeArgs().Len() {
			c.typ(path, t.TypeArgs().At(i), within)
		}
	case *types.Signature:
		c.typ(path, t.Params(), within)
		c.typ(path, t.Results(), within)
		for i := range t.TypeParams().Len() {
			c.typ(path, t.TypeParams().At(i).Constraint(), within)
		}
	case *types.Tuple:
		for i := range t.Len() {
			c.typ(path, t.At(i).Type(), within)
		}
	case *types.Struct:
		for i := range t.NumFields() {
			if f := t.Field(i); f.Exported() {
				c.objects++
				c.typ(path+"."+f.Name(), f.Type(), within)
			}
		}
	case *types.Interface:
		for i := range t.NumExplicitMethods() {
			if m := t.ExplicitMethod(i); m.Exported() {
				c.typ(path+"."+m.Name(), m.Type(), within)
			}
		}
		for i := range t.NumEmbeddeds() {
			c.typ(path, t.EmbeddedType(i), within)
		}
	case *types.Union:
		for i := range t.Len() {
			c.typ(path, t.Term(i).Type(), within)
		}
	case *types.Map:
		c.typ(path, t.Key(), within)
		c.typ(path, t.Elem(), within)
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		c.typ(path, t.Elem(), within)
	}
}

// internal reports whether a package is one that users cannot import.
func internal(p *types.Package) bool {
	return p != nil && strings.HasPrefix(p.Path(), module) && strings.Contains(p.Path(), "/internal/")
}
