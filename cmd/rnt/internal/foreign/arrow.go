package foreign

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow"
	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/rntparquet"
	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// arrowTable is the record batches of Arrow or Parquet files.
type arrowTable struct {
	o      Options
	paths  []string
	fields []string
	schema *arrow.Schema // of the chosen columns
	write  rntarrow.WriteOptions
	doc    *schema.Document
}

func openArrow(paths []string, o Options) (Table, error) {
	t := &arrowTable{o: o, paths: paths, write: rntarrow.WriteOptions{Plain: o.Plain}}
	for i, path := range paths {
		s, err := t.schemaOf(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if i == 0 {
			t.schema = s
		} else if !s.Equal(t.schema) {
			return nil, fmt.Errorf("%s: schema differs from that of %s:\n%v\nand\n%v", path, paths[0], s, t.schema)
		}
	}
	doc, err := rntarrow.Document(t.schema, &t.write)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths[0], err)
	}
	t.doc = doc
	return t, nil
}

// schemaOf returns the schema of the chosen columns of a file.
func (t *arrowTable) schemaOf(path string) (*arrow.Schema, error) {
	r, closer, err := t.open(path, nil)
	if err != nil {
		return nil, err
	}
	defer closer()
	if t.fields == nil {
		var all []string
		for _, f := range r.Schema().Fields() {
			all = append(all, f.Name)
		}
		if t.fields, err = t.o.chosen(all); err != nil {
			return nil, err
		}
	}
	return project(r.Schema(), t.fields)
}

// open opens a file.
func (t *arrowTable) open(path string, fields []string) (array.RecordReader, func(), error) {
	f, info, err := regular.Open(path)
	if err != nil {
		return nil, nil, err
	}
	var r array.RecordReader
	switch t.o.Kind {
	case Parquet:
		r, err = rntparquet.NewReader(t.o.Context, f, fields...)
	case Arrow:
		r, err = rntarrow.NewFileReader(f, info.Size())
	default:
		r, err = rntarrow.NewStreamReader(f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return r, func() { r.Release(); f.Close() }, nil
}

// project returns a schema with some of its fields.
func project(s *arrow.Schema, names []string) (*arrow.Schema, error) {
	var fields []arrow.Field
	for _, name := range names {
		found, _ := s.FieldsByName(name)
		if len(found) != 1 {
			return nil, fmt.Errorf("%d columns are named %q", len(found), name)
		}
		fields = append(fields, found[0])
	}
	m := s.Metadata()
	return arrow.NewSchema(fields, &m), nil
}

// records returns a reader of the chosen rows and columns of all files.
func (t *arrowTable) records() array.RecordReader {
	return array.ReaderFromIter(t.schema, func(yield func(arrow.RecordBatch, error) bool) {
		skip, left, done := t.o.First, t.o.Count, int64(0)
		for _, path := range t.paths {
			r, closer, err := t.open(path, t.fields)
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", path, err))
				return
			}
			for left > 0 && r.Next() {
				b := r.RecordBatch()
				from := min(skip, b.NumRows())
				end := from + min(left, b.NumRows()-from)
				skip, left, done = skip-from, left-(end-from), done+end-from
				part, err := t.part(b, from, end)
				if err == nil {
					err = t.o.Context.Err()
				}
				if !yield(part, err) || err != nil {
					closer()
					return
				}
				t.o.progress(done, -1)
			}
			err = r.Err()
			closer()
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", path, err))
				return
			}
		}
	})
}

// part returns the chosen columns of some rows.
func (t *arrowTable) part(b arrow.RecordBatch, from, end int64) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, len(t.fields))
	for i, name := range t.fields {
		at := b.Schema().FieldIndices(name)
		if len(at) != 1 {
			return nil, fmt.Errorf("a record batch has %d columns named %q", len(at), name)
		}
		columns[i] = array.NewSlice(b.Column(at[0]), from, end)
	}
	return array.NewRecordBatch(t.schema, columns, end-from), nil
}

func (t *arrowTable) Name() string {
	name, _ := t.schema.Metadata().GetValue(rntarrow.NameKey)
	return name
}

func (t *arrowTable) Document() *schema.Document { return t.doc }
func (t *arrowTable) Warnings() []error          { return nil }
func (t *arrowTable) Close() error               { return nil }

func (t *arrowTable) Add(f *rntuple.File, name string, opts *rntuple.WriteOptions) (int64, error) {
	r := t.records()
	defer r.Release()
	return rntarrow.Add(f, name, r, &t.write, opts)
}
