package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// chosen is the environment variable with the number of the mutant to run, from 1 on, of those that
// a test was built with.
const chosen = "RNTUPLE_MUTANT"

// chooser is a file of a package of which several mutants are built together.
const chooser = `package %s

import "os"

var rntupleMutant = os.Getenv("` + chosen + `")
`

// together writes the files of a package with some of its mutants to a folder, so that they are
// compiled once. It returns the paths of these by those that they stand in for. A function begins
// with its mutants, each of which has a copy of the body:
//
//	if rntupleMutant == "7" {
//		...
//		return
//	}
func together(p *pkg, mutants []mutant, dir string) (map[string]string, error) {
	files := map[string][]byte{}
	if len(mutants) == 1 {
		files[p.paths[mutants[0].file]] = mutants[0].source()
	} else {
		files[filepath.Join(filepath.Dir(p.paths[0]), "rntuple_mutant.go")] = fmt.Appendf(nil, chooser, p.files[0].Name.Name)
		copies := make([]map[int][]byte, len(p.files)) // by file and offset
		for i, m := range mutants {
			src := p.sources[m.file]
			begin, end := p.fset.Position(m.body.Lbrace).Offset+1, p.fset.Position(m.body.Rbrace).Offset
			if copies[m.file] == nil {
				copies[m.file] = map[int][]byte{}
			}
			to := copies[m.file]
			to[begin] = fmt.Appendf(to[begin], "\nif rntupleMutant == \"%d\" {%s%s%s\n%s}\n", i+1,
				src[begin:m.start], m.text, src[m.end:end], m.leave)
		}
		for i, to := range copies {
			if to == nil {
				continue
			}
			src := p.sources[i]
			var all []byte
			at := 0
			for _, offset := range slices.Sorted(maps.Keys(to)) {
				all, at = slices.Concat(all, src[at:offset], to[offset]), offset
			}
			files[p.paths[i]] = append(all, src[at:]...)
		}
	}
	paths := map[string]string{}
	for path, text := range files {
		paths[path] = filepath.Join(dir, "mutant_"+filepath.Base(path))
		if err := os.WriteFile(paths[path], text, 0o666); err != nil {
			return nil, err
		}
	}
	return paths, nil
}
