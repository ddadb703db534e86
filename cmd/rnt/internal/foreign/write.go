package foreign

import (
	"context"
	"io"
	"math"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/rntparquet"
	"github.com/go-rntuple/go-rntuple/internal/show/textout"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// WriteOptions say how to write entries.
type WriteOptions struct {
	Fields   []string
	Null     string // stands for a missing value in CSV
	Binary   bool   // of Arrow and Parquet: see rntarrow.Options
	Item     string // of Parquet: see rntparquet.Options
	Progress func(done, total int64)
}

// Write writes the entries of a source to a file of a format, and returns their number.
func Write(ctx context.Context, w io.Writer, k Kind, s rntuple.Source, o WriteOptions) (int64, error) {
	switch k {
	case CSV, JSON:
		return textout.Write(ctx, w, s, textout.Options{
			Fields: o.Fields, CSV: k == CSV, Null: o.Null, Progress: func(n int64) { o.Progress(n, -1) },
			Entries: rntuple.EntryRange{End: math.MaxInt64},
		})
	case Parquet:
		return rntparquet.Write(w, s, &rntparquet.Options{
			Options: rntarrow.Options{Fields: o.Fields, Binary: o.Binary},
			Item:    o.Item,
			Fold:    &rntuple.FoldOptions{Progress: o.Progress},
		})
	}
	r, err := rntarrow.NewReader(s, &rntarrow.Options{Fields: o.Fields, Binary: o.Binary, BatchSize: 1 << 16, Reuse: true})
	if err != nil {
		return 0, err
	}
	defer r.Release()
	progress := func(done int64) { o.Progress(done, -1) }
	if k == Arrow {
		return rntarrow.WriteFile(w, r, progress)
	}
	return rntarrow.WriteStream(w, r, progress)
}
