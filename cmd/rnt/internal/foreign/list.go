package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/remote"
)

// An Info describes a table in a file.
type Info struct {
	Name        string // of a TTree
	Class       string // as "TTree" or "Parquet"
	Entries     int64
	Columns     int // at the top
	Bytes       int64
	Compression []string
}

// List describes the tables in a file, or the TTrees in a ROOT file.
func List(ctx context.Context, path string, k Kind, far remote.Options) ([]Info, error) {
	if k == Tree || k == RNTuple {
		return listTrees(path, far)
	}
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	info := Info{Class: map[Kind]string{Parquet: "Parquet", Arrow: "Arrow", Arrows: "Arrow", CSV: "CSV",
		JSON: "JSON Lines"}[k], Bytes: stat.Size()}
	o := Options{Context: ctx, Kind: k, Count: 1 << 62}
	switch k {
	case Parquet:
		err = info.parquet(path)
	case Arrow, Arrows:
		err = info.arrow(path, o)
	default:
		err = info.text(path, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return []Info{info}, nil
}

// parquet reads the metadata at the end of a file.
func (i *Info) parquet(path string) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New("the metadata is damaged")
		}
	}()
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer f.Close()
	m := f.MetaData()
	i.Entries, i.Columns = m.NumRows, m.Schema.Root().NumFields()
	for g := range f.NumRowGroups() {
		row := m.RowGroup(g)
		for c := range row.NumColumns() {
			chunk, err := row.ColumnChunk(c)
			if err != nil {
				return err
			}
			if name := chunk.Compression().String(); !slices.Contains(i.Compression, name) {
				i.Compression = append(i.Compression, name)
			}
		}
	}
	return nil
}

// arrow counts the rows of the record batches.
func (i *Info) arrow(path string, o Options) error {
	t := &arrowTable{o: o}
	r, closer, err := t.open(path, nil)
	if err != nil {
		return err
	}
	defer closer()
	i.Columns = r.Schema().NumFields()
	for r.Next() {
		i.Entries += r.RecordBatch().NumRows()
	}
	return r.Err()
}

// text reads all entries.
func (i *Info) text(path string, o Options) error {
	f, _, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := skipMark(contextReader{o.Context, f})
	if o.Kind == JSON {
		g := &guess{}
		err := g.addLines(in)
		i.Entries, i.Columns = g.values, len(g.names)
		return err
	}
	rows, err := newRows(in)
	if err != nil {
		return err
	}
	i.Columns = len(rows.names)
	for {
		_, _, err := rows.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		i.Entries++
	}
}
