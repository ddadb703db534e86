package surgery

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/remote"
)

// objects returns the objects that the directories of the file of src list, in that order,
// without directories and earlier cycles. With an error it returns those before it.
// A file with an RNTuple that is not a ROOT file has no others, nor have objects of a store.
func objects(ctx context.Context, path string, src *source) ([]Object, error) {
	if src.Source.InObjects() {
		return nil, nil
	}
	return rootfile.Retry(ctx, func() ([]Object, error) { return readObjects(path, src) })
}

// readObjects is objects without trying again if a commit comes in between.
func readObjects(path string, src *source) (all []Object, err error) {
	file, err := rootfile.Open(src.Source.R, src.Source.Size)
	if errors.Is(err, frame.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{} // paths
	err = file.Walk(func(dir string, k rootfile.Key) error {
		at := strings.TrimPrefix(dir+"/"+k.Name, "/")
		if !seen[at] && k.Class != "TDirectory" && k.Class != "TDirectoryFile" {
			seen[at] = true
			all = append(all, Object{path, at, k.Class})
		}
		return nil
	})
	return all, err
}

// leaveBehind adds the objects in the files of a step that no job takes to the report.
// What cannot be listed is reported, too: the inputs may be sound nevertheless.
func (r *run) leaveBehind(ctx context.Context, n int, sources []*source) {
	for i, in := range r.steps[n] {
		if r.listed[in.Path] {
			continue
		}
		r.listed[in.Path] = true
		all, err := objects(ctx, in.Path, sources[i])
		if err != nil {
			r.report.Unlisted = append(r.report.Unlisted, fmt.Errorf("%s: %w", remote.Redact(in.Path), err))
		}
		for _, o := range all {
			same := Object{Path: o.Path, Class: o.Class}
			if !r.left[same] && !r.takes(o) {
				r.left[same] = true
				r.report.LeftBehind = append(r.report.LeftBehind, o)
			}
		}
	}
}

// takes reports whether an object is an RNTuple that a job takes.
func (r *run) takes(o Object) bool {
	if !anchor.IsClass(o.Class) {
		return false
	}
	only := r.taken[Input{Path: o.File}] && !strings.Contains(o.Path, "/") // at the top level
	return only || r.taken[Input{o.File, o.Path}]
}

// takenBy returns the RNTuples that jobs take. Their names have neither slashes around
// them nor a cycle.
func takenBy(jobs []*job) map[Input]bool {
	taken := map[Input]bool{}
	for _, j := range jobs {
		for _, in := range j.inputs {
			name, _, _ := strings.Cut(in.Name, ";")
			taken[Input{in.Path, strings.Trim(name, "/")}] = true
		}
	}
	return taken
}
