package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// maxLeft is the most objects of a file, or fields, that a warning names.
const maxLeft = 8

// warnLeft prints which fields and objects in the files of the inputs were not copied, the objects in a line for
// each file, and which files could not be searched for them.
func (t *tool) warnLeft(report *surgery.Report) {
	for _, err := range report.Unlisted {
		t.warn("other objects may not have been copied: %v", err)
	}
	for _, file := range report.Without {
		t.leave("%s: not copied: the file holds no RNTuple", remote.Redact(file))
	}
	t.omit(report.Omitted)
	objects := report.LeftBehind
	for len(objects) > 0 {
		file := objects[0].File
		ofFile := func(o surgery.Object) bool { return o.File == file }
		var names []string
		for _, o := range objects {
			if ofFile(o) {
				names = append(names, nameOfObject(o))
			}
		}
		t.warn("%s: not copied: %s", remote.Redact(file), strings.Join(abridged(names, "objects"), ", "))
		objects = slices.DeleteFunc(slices.Clone(objects), ofFile)
	}
}

// omit warns of fields that the first input lacks. The exit status tells of them, too, unless a flag leaves
// such fields out.
func (t *tool) omit(fields []string) {
	if len(fields) == 0 {
		return
	}
	say := t.leave
	if t.filtering {
		say = t.warn
	}
	say("not copied: fields that the first input lacks: %s", strings.Join(abridged(fields, "fields"), ", "))
}

// abridged returns the first names, and how many more there are.
func abridged(names []string, what string) []string {
	if more := len(names) - maxLeft; more > 1 {
		return append(slices.Clone(names[:maxLeft]), fmt.Sprintf("%d more %s", more, what))
	}
	return names
}

func nameOfObject(o surgery.Object) string {
	class := o.Class
	if anchor.IsClass(class) {
		class = "RNTuple"
	}
	return fmt.Sprintf("%s %q", class, o.Path)
}
