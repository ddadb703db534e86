package ttree

import (
	"context"
	"os"

	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"
	"github.com/go-rntuple/go-rntuple/bridge/rntgroot"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

func init() {
	rntbeam.RegisterFormat("ttree", rntbeam.Format{Clusters: clusters, Convert: convert})
}

// rangeBytes is about the size of the ranges of entries that are read as one. Baskets at their ends
// are read twice.
const rangeBytes = 16 << 20

// open opens a tree with the branches that are wanted, all of which must be readable.
func open(f rntbeam.Foreign) (*rntgroot.Tree, error) {
	o := rntgroot.TreeOptions{Flat: true, Skip: true}
	all, err := rntgroot.OpenTree(f.Name, []string{f.Path}, &o)
	if err != nil {
		return nil, err
	}
	names := []string{}
	some := false
	for _, c := range all.Document().Fields {
		if f.Wanted(c.Name) {
			names = append(names, c.Name)
		} else {
			some = true
		}
	}
	for _, b := range all.Skipped() {
		if f.Wanted(b.Name) {
			names = append(names, b.Name)
		} else {
			some = true
		}
	}
	if !some && len(all.Skipped()) == 0 {
		return all, nil
	}
	if err := all.Close(); err != nil {
		return nil, err
	}
	o.Skip, o.Branches = false, names
	return rntgroot.OpenTree(f.Name, []string{f.Path}, &o)
}

func clusters(ctx context.Context, f rntbeam.Foreign) (all []workunits.Cluster, err error) {
	size, err := sizeOf(ctx, f.Path)
	if err != nil {
		return nil, err
	}
	t, err := open(f)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	n := t.Entries()
	ranges := min(n, 1+size/rangeBytes)
	for i := range ranges {
		e := rntuple.EntryRange{First: i * n / ranges, End: (i + 1) * n / ranges}
		all = append(all, workunits.Cluster{EntryRange: e, Cost: size / ranges})
	}
	return all, nil
}

func sizeOf(ctx context.Context, path string) (int64, error) {
	if !remote.IsURL(path) {
		info, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	r, err := remote.Open(ctx, path, nil)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return r.Len(), nil
}

func convert(ctx context.Context, f rntbeam.Foreign, to string, e rntuple.EntryRange) error {
	t, err := open(f)
	if err != nil {
		return err
	}
	defer t.Close()
	w, err := rntuple.CreateColumns(to, "entries", t.Document(),
		&rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: true}})
	if err != nil {
		return err
	}
	if err := t.Write(ctx, w, e.First, e.End); err != nil {
		w.Abort()
		return err
	}
	return w.Close()
}
