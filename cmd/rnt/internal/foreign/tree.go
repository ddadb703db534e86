package foreign

import (
	"github.com/go-rntuple/go-rntuple/bridge/rntgroot"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// listTrees describes the TTrees in a ROOT file.
func listTrees(path string, far remote.Options) (all []Info, err error) {
	trees, err := rntgroot.Trees(path, &far)
	for _, t := range trees {
		all = append(all, Info{Name: t.Name, Class: t.Class, Entries: t.Entries, Columns: len(t.Branches)})
	}
	return all, err
}

// TreeNames returns the names of the TTrees in a ROOT file, with their directories.
func TreeNames(path string, far remote.Options) (names []string, err error) {
	trees, err := rntgroot.Trees(path, &far)
	for _, t := range trees {
		names = append(names, t.Name)
	}
	return names, err
}

// treeTable is the entries of a TTree, or of a chain.
type treeTable struct {
	*rntgroot.Tree
	o Options
}

func openTree(paths []string, o Options) (Table, error) {
	read := rntgroot.TreeOptions{Skip: o.Skip, Flat: o.Flat, Remote: o.Remote}
	if o.Choose != nil {
		all, err := rntgroot.OpenTree(o.Name, paths, &rntgroot.TreeOptions{Skip: true, Flat: true, Remote: o.Remote})
		if err != nil {
			return nil, err
		}
		defer all.Close()
		var names []string
		for _, f := range all.Document().Fields {
			names = append(names, f.Name)
		}
		for _, b := range all.Skipped() {
			names = append(names, b.Name)
		}
		if read.Branches, err = o.Choose(names); err != nil {
			return nil, err
		}
		if len(read.Branches) == len(names) {
			read.Branches = nil
		}
	}
	t, err := rntgroot.OpenTree(o.Name, paths, &read)
	if err != nil {
		return nil, err
	}
	return &treeTable{t, o}, nil
}

func (t *treeTable) Document() *schema.Document { return t.Tree.Document() }

func (t *treeTable) Warnings() (all []error) {
	for _, b := range t.Skipped() {
		all = append(all, b)
	}
	return all
}

func (t *treeTable) Add(f *rntuple.File, name string, opts *rntuple.WriteOptions) (int64, error) {
	w, err := rntuple.NewColumnWriter(f, name, t.Document(), opts)
	if err != nil {
		return 0, err
	}
	first := min(t.o.First, t.Entries())
	end := first + min(t.o.Count, t.Entries()-first)
	const step = 1 << 17
	for at := first; at < end && err == nil; at += step {
		err = t.Write(t.o.Context, w, at, min(at+step, end))
		t.o.progress(min(at+step, end)-first, end-first)
	}
	if err != nil {
		w.Abort()
		return 0, err
	}
	return end - first, w.Close()
}
