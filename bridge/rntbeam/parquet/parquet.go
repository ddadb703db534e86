package parquet

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/rntparquet"
	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

func init() {
	rntbeam.RegisterFormat("parquet", rntbeam.Format{Clusters: clusters, Convert: convert})
}

// with opens a file.
func with(ctx context.Context, f rntbeam.Foreign, use func(r *io.SectionReader) error) error {
	if remote.IsURL(f.Path) {
		r, err := remote.Open(ctx, f.Path, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		return use(io.NewSectionReader(r, 0, r.Len()))
	}
	// To open a FIFO would wait for a writer.
	info, err := os.Stat(f.Path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", f.Path)
	}
	if err != nil {
		return err
	}
	r, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	return use(io.NewSectionReader(r, 0, info.Size()))
}

func clusters(ctx context.Context, f rntbeam.Foreign) (all []workunits.Cluster, err error) {
	err = with(ctx, f, func(r *io.SectionReader) error {
		groups, err := rntparquet.RowGroups(r, f.Wanted)
		at := int64(0)
		for _, g := range groups {
			all = append(all, workunits.Cluster{EntryRange: rntuple.EntryRange{First: at, End: at + g.Rows}, Cost: g.Bytes})
			at += g.Rows
		}
		return err
	})
	return all, err
}

func convert(ctx context.Context, f rntbeam.Foreign, to string, e rntuple.EntryRange) error {
	return with(ctx, f, func(r *io.SectionReader) error {
		groups, err := rntparquet.RowGroups(r, f.Wanted)
		if err != nil {
			return err
		}
		first, end, at := len(groups), len(groups), int64(0)
		for i, g := range groups {
			if at == e.First {
				first = i
			}
			if at += g.Rows; at == e.End {
				end = i + 1
			}
		}
		all, err := rntparquet.NewRowGroupReader(ctx, r, 0, 0)
		if err != nil {
			return err
		}
		defer all.Release()
		var fields []string
		for _, c := range all.Schema().Fields() {
			if f.Wanted(c.Name) {
				fields = append(fields, c.Name)
			}
		}
		records, err := rntparquet.NewRowGroupReader(ctx, r, first, end, fields...)
		if err != nil {
			return err
		}
		defer records.Release()
		_, err = rntarrow.Create(to, "entries", records, nil, &rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: true}})
		return err
	})
}
