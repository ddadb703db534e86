package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/surgery"
)

// warnLeft says what the files of inputs hold besides the RNTuples that were
// taken. Files that hold the same are named together.
func (t *tool) warnLeft(inputs []surgery.Input) {
	if t.quiet {
		return
	}
	var texts []string
	files := map[string][]string{} // by text
	for _, in := range inputs {
		text := describeLeft(in)
		if text == "" || slices.Contains(files[text], in.Path) {
			continue
		}
		if len(files[text]) == 0 {
			texts = append(texts, text)
		}
		files[text] = append(files[text], in.Path)
	}
	for _, text := range texts {
		name := files[text][0]
		if more := len(files[text]) - 1; more > 0 {
			name += " and " + plural(more, "more file")
		}
		t.warn("%s: not copied: %s", name, text)
	}
}

// maxLeft is how many objects a warning names.
const maxLeft = 8

// describeLeft names the objects in an input's file that do not belong to its
// RNTuple; of each only the newest cycle. It is empty if there are none, or if the
// file cannot be read, which is not for a warning to say.
func describeLeft(in surgery.Input) string {
	f, err := os.Open(in.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	file, err := rootfile.Open(f, info.Size())
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(strings.Trim(in.Name, "/"), ";")
	var names []string
	seen := map[string]bool{}
	_ = file.Walk(func(dir string, k rootfile.Key) error {
		path := strings.TrimPrefix(dir+"/"+k.Name, "/")
		class := k.Class
		switch class {
		case "TDirectory", "TDirectoryFile":
			return nil
		case anchor.ClassName, anchor.ExperimentalClassName:
			if path == name || name == "" && dir == "" { // then it is the only one there
				return nil
			}
			class = "RNTuple"
		}
		if text := fmt.Sprintf("%s %q", class, path); !seen[text] {
			seen[text] = true
			names = append(names, text)
		}
		return nil
	})
	if more := len(names) - maxLeft; more > 1 {
		names = append(names[:maxLeft], fmt.Sprintf("%d more objects", more))
	}
	return strings.Join(names, ", ")
}
