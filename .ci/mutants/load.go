package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// A pkg is a package to mutate, parsed and typed.
type pkg struct {
	name    string // its folder in the checkout
	paths   []string
	sources [][]byte
	files   []*ast.File

	fset   *token.FileSet
	config types.Config
	info   types.Info
}

// load reads a package. The go command compiles what it imports.
func (r *runner) load(t target) (*pkg, error) {
	out, err := r.command(r.cache, r.temp, "list", "-tags="+t.tags, "-export", "-deps",
		"-json=ImportPath,GoFiles,Export", "./"+t.name)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var files []string
	for d := json.NewDecoder(bytes.NewReader(out)); ; { // the package itself comes last
		var listed struct {
			ImportPath, Export string
			GoFiles            []string
		}
		if err := d.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[listed.ImportPath], files = listed.Export, listed.GoFiles
	}
	p := &pkg{name: t.name, fset: token.NewFileSet()}
	p.info.Uses, p.info.Types = map[*ast.Ident]types.Object{}, map[ast.Expr]types.TypeAndValue{}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	p.config.Importer = importer.ForCompiler(p.fset, "gc", lookup)
	p.config.Sizes = types.SizesFor("gc", runtime.GOARCH)
	for _, f := range files {
		p.paths = append(p.paths, filepath.Join(r.root, t.name, f))
		src, err := os.ReadFile(p.paths[len(p.paths)-1])
		if err != nil {
			return nil, err
		}
		parsed, err := parser.ParseFile(p.fset, f, src, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.sources, p.files = append(p.sources, src), append(p.files, parsed)
	}
	if _, err := p.config.Check(t.name, p.fset, p.files, &p.info); err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	return p, nil
}

// compiles reports whether a mutant passes the checks of types.
func (m mutant) compiles() bool {
	p := m.pkg
	mutated, err := parser.ParseFile(p.fset, "", m.source(), parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	files := slices.Clone(p.files)
	files[m.file] = mutated
	_, err = p.config.Check(p.name, p.fset, files, nil)
	return err == nil
}

// text returns the source of a node.
func (p *pkg) text(file int, n ast.Node) string {
	return string(p.sources[file][p.fset.Position(n.Pos()).Offset:p.fset.Position(n.End()).Offset])
}
