package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/internal/jsonl"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Kind is a format of files.
type Kind string

// The formats.
const (
	RNTuple Kind = "rntuple"
	Tree    Kind = "ttree"
	Parquet Kind = "parquet"
	Arrow   Kind = "arrow"  // Arrow's IPC file, also known as Feather
	Arrows  Kind = "arrows" // Arrow's IPC stream
	CSV     Kind = "csv"
	JSON    Kind = "jsonl" // JSON Lines
)

// Kinds are all formats. An RNTuple or a TTree is in a ROOT file.
var Kinds = []Kind{RNTuple, Tree, Parquet, Arrow, Arrows, CSV, JSON}

// IsText reports whether files of the format have no types.
func (k Kind) IsText() bool { return k == CSV || k == JSON }

// Title returns what a file of the format is, for messages.
func (k Kind) Title() string {
	switch k {
	case RNTuple:
		return "an RNTuple"
	case Tree:
		return "a TTree"
	case Parquet:
		return "a Parquet file"
	case Arrow:
		return "an Arrow file"
	case Arrows:
		return "an Arrow stream"
	case CSV:
		return "a CSV file"
	case JSON:
		return "a JSON Lines file"
	}
	return string(k)
}

var suffixes = map[string]Kind{
	".root": RNTuple, ".parquet": Parquet, ".arrow": Arrow, ".feather": Arrow, ".arrows": Arrows,
	".csv": CSV, ".jsonl": JSON, ".ndjson": JSON,
}

// BySuffix returns the format that the name of a file tells, or an error.
func BySuffix(path string) (Kind, error) {
	if k := suffixes[strings.ToLower(filepath.Ext(path))]; k != "" {
		return k, nil
	}
	return "", fmt.Errorf(
		"%s: unknown extension; want .root, .parquet, .arrow, .feather, .arrows, .csv, .jsonl or .ndjson",
		path)
}

// ErrUnknown is the error about a file that has none of the formats.
var ErrUnknown = errors.New("unknown format; want ROOT, Parquet, Arrow, CSV or JSON Lines")

// Detect returns the format of a file, by what it begins with or, as for CSV, by its name. A ROOT
// file is RNTuple if it has one or, if name is not empty, if it has one of that name. A file may be
// far away.
func Detect(ctx context.Context, path, name string, o remote.Options) (Kind, error) {
	if location.Parse(path).IsObjects() {
		return RNTuple, nil
	}
	f, size, err := input.Open(ctx, location.Parse(path), false, o)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, min(size, 512))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	head = bytes.TrimPrefix(head, []byte(jsonl.Mark))
	bySuffix, _ := BySuffix(path)
	switch {
	case bytes.HasPrefix(head, []byte("root")):
		return detectTree(ctx, path, name, o)
	case bytes.HasPrefix(head, []byte("PAR1")):
		return Parquet, nil
	case bytes.HasPrefix(head, []byte("ARROW1")):
		return Arrow, nil
	case bytes.HasPrefix(head, []byte{0xff, 0xff, 0xff, 0xff}):
		return Arrows, nil
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")), bySuffix == JSON &&
		len(bytes.TrimSpace(head)) == 0:
		return JSON, nil
	case bySuffix == CSV:
		return CSV, nil
	case bySuffix == RNTuple || n == 0:
		return RNTuple, nil // whose reader says what is wrong
	}
	return "", fmt.Errorf("%s: %w", path, ErrUnknown)
}

// detectTree tells RNTuples and TTrees apart.
func detectTree(ctx context.Context, path, name string, o remote.Options) (Kind, error) {
	infos, err := rntuple.ListFile(ctx, path, &o)
	if err == nil {
		name, _, _ = strings.Cut(name, ";")
		for _, i := range infos {
			if name == "" || i.Path == name || strings.HasPrefix(i.Path, name+";") {
				return RNTuple, nil
			}
		}
	}
	// If the trees cannot be listed, they are why, unless the file has RNTuples.
	if trees, treeErr := TreeNames(path, o); len(trees) > 0 || treeErr != nil && err == nil && len(infos) == 0 {
		return Tree, nil
	}
	return RNTuple, nil
}

// Options say how to read files.
type Options struct {
	Context context.Context
	Kind    Kind
	Name    string // of a TTree; empty for the only one

	// Choose returns which of the columns at the top to read; nil stands for all.
	Choose func(columns []string) ([]string, error)
	// First is the first entry to read, Count the number of entries.
	First, Count int64

	Schema *schema.Document // of CSV and JSON Lines; nil if it is to be inferred
	Like   *schema.Document // of CSV and JSON Lines: types for columns of the same names, or nil
	Null   string           // stands for a missing value in CSV
	Plain  []string         // of Arrow and Parquet: see rntarrow.WriteOptions
	Flat   bool             // of TTrees: no collections
	Skip   bool             // of TTrees: leave out what cannot be read

	Remote remote.Options // of TTrees

	Progress func(done, total int64) // in entries, total -1 if it is not known; may be nil
}

// A Table is the entries of one file, or of several, one after the other.
type Table interface {
	// Name is what the RNTuple is to be called, or empty.
	Name() string
	// Document is the schema of the RNTuple.
	Document() *schema.Document
	// Warnings are what should be known of the conversion.
	Warnings() []error
	// Add writes the RNTuple to a file, and returns the number of entries.
	Add(f *rntuple.File, name string, opts *rntuple.WriteOptions) (int64, error)
	Close() error
}

// Open opens files of one format as one table.
func Open(paths []string, o Options) (Table, error) {
	switch o.Kind {
	case Tree:
		return openTree(paths, o)
	case Parquet, Arrow, Arrows:
		return openArrow(paths, o)
	case CSV, JSON:
		return openText(paths, o)
	}
	return nil, fmt.Errorf("%s: %w", paths[0], ErrUnknown)
}

// chosen returns which columns to read.
func (o *Options) chosen(columns []string) ([]string, error) {
	if o.Choose == nil {
		return columns, nil
	}
	return o.Choose(columns)
}

// progress reports the number of entries that are done.
func (o *Options) progress(done, total int64) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}

// withFields returns the columns of a document with the given names, in their order.
func withFields(doc *schema.Document, names []string) *schema.Document {
	byName := make(map[string]*schema.FieldDocument, len(doc.Fields))
	for _, f := range doc.Fields {
		byName[f.Name] = f
	}
	d := *doc
	d.Fields = nil
	for _, name := range names {
		if f := byName[name]; f != nil {
			d.Fields = append(d.Fields, f)
		}
	}
	return &d
}

// SchemaOf returns the schema of an RNTuple with a document and a name.
func SchemaOf(doc *schema.Document, name string) (*schema.Schema, error) {
	d := *doc
	d.Name = name
	described, err := d.Describe(true)
	if err != nil {
		return nil, err
	}
	return schema.Build(&envelope.Header{Name: name, Schema: *described}, nil)
}
