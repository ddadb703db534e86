package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-rntuple/go-rntuple/bridge/rntgroot"
)

// A result is a line of the output.
type result struct {
	Name, File, Tree string
	Entries          int64
	Error            string   `json:",omitempty"`
	Refused          []string `json:",omitempty"` // branches
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: fromtree OUTDIR FILE…")
		os.Exit(2)
	}
	out := json.NewEncoder(os.Stdout)
	for _, arg := range os.Args[2:] {
		files := strings.Split(arg, ",")
		trees, err := rntgroot.Trees(files[0], nil)
		if err != nil {
			out.Encode(result{Name: arg, File: arg, Error: err.Error()})
		}
		for _, t := range trees {
			name := strings.TrimSuffix(filepath.Base(files[0]), ".root")
			if len(trees) > 1 {
				name += "_" + path.Base(t.Name)
			}
			if len(files) > 1 {
				name = strings.TrimRight(name, "0123456789")
			}
			r := result{Name: name, File: arg, Tree: t.Name}
			if r.Entries, err = convert(filepath.Join(os.Args[1], name+".root"), files, t.Name); err != nil {
				r.Error = err.Error()
			}
			var refused *rntgroot.TreeError
			if errors.As(err, &refused) {
				for _, b := range refused.Branches {
					r.Refused = append(r.Refused, b.Name)
				}
			}
			out.Encode(r)
		}
	}
}

func convert(to string, files []string, name string) (int64, error) {
	t, err := rntgroot.OpenTree(name, files, nil)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	return rntgroot.CreateFromTree(context.Background(), to, "", t, nil, nil)
}
