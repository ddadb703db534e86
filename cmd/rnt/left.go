package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/surgery"
)

// maxLeft is the most objects of a file that a warning names.
const maxLeft = 8

// warnLeft prints which objects in the files of the inputs were not copied, in a line for
// each file, and which files could not be searched for them.
func (t *tool) warnLeft(report *surgery.Report) {
	for _, err := range report.Unlisted {
		t.warn("other objects may not have been copied: %v", err)
	}
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
		if more := len(names) - maxLeft; more > 1 {
			names = append(names[:maxLeft], fmt.Sprintf("%d more objects", more))
		}
		t.warn("%s: not copied: %s", remote.Redact(file), strings.Join(names, ", "))
		objects = slices.DeleteFunc(slices.Clone(objects), ofFile)
	}
}

func nameOfObject(o surgery.Object) string {
	class := o.Class
	if class == anchor.ClassName || class == anchor.ExperimentalClassName {
		class = "RNTuple"
	}
	return fmt.Sprintf("%s %q", class, o.Path)
}
