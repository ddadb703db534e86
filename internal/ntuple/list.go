package ntuple

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/internal/legacy"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/remote"
)

// Info describes an RNTuple that a file lists.
type Info struct {
	Path   string // the name for Open, with the cycle if it is not the newest
	Class  string // the class of the anchor, which differs in pre-release formats
	Newest bool   // no RNTuple with this path has a higher cycle
}

// List returns the RNTuples that the directories of a ROOT file list.
func List(r io.ReaderAt, size int64) ([]Info, error) {
	return rootfile.Retry(context.Background(), func() ([]Info, error) {
		file, bare, err := openContainer(r, size)
		switch {
		case err != nil:
			return nil, err
		case bare != nil:
			return []Info{{Path: bare.Name, Class: bare.Class, Newest: true}}, nil
		}
		return list(file)
	})
}

// ListFile returns the RNTuples in a file. See List.
func ListFile(ctx context.Context, at location.Location, o remote.Options) ([]Info, error) {
	if at.IsObjects() {
		return listObjects(ctx, at, o)
	}
	f, size, err := input.Open(ctx, at, false, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	infos, err := List(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return infos, nil
}

func list(file *rootfile.File) ([]Info, error) {
	var infos []Info
	var cycles []int
	newest := map[string]int{} // cycle, by path
	err := file.Walk(func(dir string, k rootfile.Key) error {
		if anchor.IsClass(k.Class) {
			path := strings.TrimPrefix(dir+"/"+k.Name, "/")
			newest[path] = max(newest[path], k.CycleNumber())
			infos, cycles = append(infos, Info{Path: path, Class: k.Class}), append(cycles, k.CycleNumber())
		}
		return nil
	})
	for i := range infos {
		if infos[i].Newest = cycles[i] == newest[infos[i].Path]; !infos[i].Newest {
			infos[i].Path = fmt.Sprintf("%s;%d", infos[i].Path, cycles[i])
		}
	}
	return infos, err
}

// openContainer opens a ROOT file, or a bare file as pre-release versions could write it.
func openContainer(r io.ReaderAt, size int64) (*rootfile.File, *legacy.Bare, error) {
	file, err := rootfile.Open(r, size)
	if errors.Is(err, frame.ErrUnsupported) {
		if bare, bareErr := legacy.ReadBare(r, size); bare != nil || bareErr != nil {
			return nil, bare, bareErr
		}
	}
	return file, nil, err
}

// onlyName returns the name of the only RNTuple at the top level of a file.
func onlyName(file *rootfile.File) (string, error) {
	keys, err := file.TopKeys()
	if err != nil {
		return "", err
	}
	var names []string
	for _, k := range keys {
		if anchor.IsClass(k.Class) && !slices.Contains(names, k.Name) { // otherwise another cycle
			names = append(names, k.Name)
		}
	}
	switch {
	case len(names) == 0:
		return "", notFound(file, "", rootfile.ErrNotFound)
	case len(names) > 1:
		return "", fmt.Errorf("the file has several RNTuples, name one of them: %s", strings.Join(names, ", "))
	}
	return names[0], nil
}

// notFound returns err, or, if it wraps ErrNotFound, an error that also lists the RNTuples
// of the file. The name is the one that was not found; if it is empty, there is no RNTuple
// at the top level.
func notFound(file *rootfile.File, name string, err error) error {
	if !errors.Is(err, rootfile.ErrNotFound) {
		return err
	}
	infos, listErr := list(file)
	switch {
	case listErr != nil:
		return err
	case len(infos) == 0:
		return None(file)
	}
	what := fmt.Sprintf("RNTuple %q", name)
	if name == "" {
		what = "RNTuple at the top level"
	}
	var paths []string
	for _, i := range infos {
		if i.Newest {
			paths = append(paths, i.Path)
		}
	}
	return fmt.Errorf("%s: %w; the file has %s", what, rootfile.ErrNotFound, strings.Join(paths, ", "))
}

// None returns the error for a file without RNTuples, which wraps ErrNotFound and
// names the TTrees that the file holds instead.
func None(file *rootfile.File) error {
	var none noneError
	seen := map[string]bool{}
	_ = file.Walk(func(dir string, k rootfile.Key) error { // TTrees found before an error are worth naming
		path := strings.TrimPrefix(dir+"/"+k.Name, "/")
		if (k.Class == "TTree" || strings.HasPrefix(k.Class, "TNtuple")) && !seen[path] { // otherwise an older cycle
			seen[path] = true
			none.trees = append(none.trees, path)
		}
		return nil
	})
	return &none
}

// A noneError reports that a file has no RNTuples.
type noneError struct{ trees []string }

func (e *noneError) Error() string {
	if len(e.trees) == 0 {
		return "the file holds no RNTuple"
	}
	const most = 10
	text := "the file holds TTrees, no RNTuple: " + strings.Join(e.trees[:min(most, len(e.trees))], ", ")
	if more := len(e.trees) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (e *noneError) Is(target error) bool { return target == rootfile.ErrNotFound }
