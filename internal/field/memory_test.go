package field_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// This file has RNTuples in memory, column by column and without a file around.

// fieldOf returns a field of a C++ type, with the default columns of uncompressed
// data.
func fieldOf(t *testing.T, name, cppType string) *schema.FieldDocument {
	t.Helper()
	f, err := schema.FieldOf(name, cppType)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// record returns an untyped record.
func record(name string, fields ...*schema.FieldDocument) *schema.FieldDocument {
	return &schema.FieldDocument{Name: name, Role: "record", Fields: fields}
}

// class returns a field of a class.
func class(name, cppType string, fields ...*schema.FieldDocument) *schema.FieldDocument {
	return &schema.FieldDocument{Name: name, Type: cppType, Role: "record", Fields: fields}
}

// vector returns an untyped collection.
func vector(name string, item *schema.FieldDocument) *schema.FieldDocument {
	item.Name = "_0"
	return &schema.FieldDocument{Name: name, Role: "collection", Fields: []*schema.FieldDocument{item}}
}

func build(t *testing.T, fields ...*schema.FieldDocument) *schema.Schema {
	t.Helper()
	doc := &schema.Document{Name: "n", Fields: fields}
	described, err := doc.Describe(false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Build(&envelope.Header{Name: "n", Schema: *described}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Hidden) > 0 {
		t.Fatal(s.Hidden[0].Err)
	}
	return s
}

// dense returns the schema of vectors of optionals, called f, in a pre-release format, in which an
// optional has a bit in place of an index.
func dense(t *testing.T, item string, columns ...envelope.Column) *schema.Schema {
	t.Helper()
	h := envelope.Header{Name: "n", Schema: envelope.Schema{
		Fields: []envelope.Field{
			{Name: "f", TypeName: "std::vector<std::optional<" + item + ">>", Role: envelope.RoleCollection},
			{Name: "_0", TypeName: "std::optional<" + item + ">", Role: envelope.RoleCollection},
			{Name: "_0", TypeName: item, Parent: 1},
		},
		Columns: []envelope.Column{{Type: column.Index64, Bits: 64}, {Type: column.Bit, Bits: 1, Field: 1, PreRelease: true}},
	}}
	for _, c := range columns {
		c.Field = 2
		h.Columns = append(h.Columns, c)
	}
	s, err := schema.Build(&h, nil)
	if err != nil || len(s.Hidden) > 0 {
		t.Fatal(err, s.Hidden)
	}
	return s
}

func lookup(t *testing.T, s *schema.Schema, path string) []*schema.Field {
	t.Helper()
	chain, err := s.Lookup(path)
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

// elements are those of one column in one cluster.
type elements struct {
	n      int
	text   string // as fmt prints them
	encode func(f column.Format) ([]byte, error)
}

func of[T column.Element](v ...T) elements {
	return elements{len(v), fmt.Sprint(v), func(f column.Format) ([]byte, error) { return column.Append(f, nil, v) }}
}

// characters are those of strings, which are signed.
func characters(s string) elements {
	all := make([]int8, len(s))
	for i := range all {
		all[i] = int8(s[i])
	}
	return of(all...)
}

// a cluster has a number of entries, and the elements of columns by the path of the
// field and their place there: "v/0". Columns that are not named are empty.
type cluster struct {
	entries int
	columns map[string]elements
}

// source returns a source of the given clusters. Columns are cut into pages of 3
// elements.
func source(t *testing.T, s *schema.Schema, clusters ...cluster) *pagesource.Source {
	t.Helper()
	var file []byte
	var list envelope.PageList
	entries := 0
	offsets := map[string]int{}
	for _, c := range clusters {
		used := 0
		var in envelope.ClusterPages
		for _, col := range s.Columns {
			name := fmt.Sprintf("%s/%d", col.Owner.Path(), col.Index)
			e, ok := c.columns[name]
			stored := envelope.ColumnPages{ElementOffset: int64(offsets[name])}
			if ok {
				page, err := e.encode(col.Format())
				if err != nil {
					t.Fatalf("column %s: %v", name, err)
				}
				used++
				offsets[name] += e.n
				for n := 0; n < e.n; {
					some := min(3, e.n-n)
					if col.Format().PageSize(1)*8 != int64(col.Format().Bits) {
						some = e.n // bits are not cut
					}
					size := uint64(col.Format().PageSize(uint32(some)))
					stored.Pages = append(stored.Pages,
						envelope.Page{NumElements: uint32(some), Locator: locator.Locator{Offset: uint64(len(file)), Size: size}})
					file = append(file, page[:size]...)
					page, n = page[size:], n+some
				}
			}
			in.Columns = append(in.Columns, stored)
		}
		if used != len(c.columns) {
			t.Fatalf("%d of the columns %v are there", used, c.columns)
		}
		list.Clusters = append(list.Clusters, envelope.Cluster{FirstEntry: uint64(entries), NumEntries: uint64(c.entries)})
		list.Pages = append(list.Pages, in)
		entries += c.entries
	}
	b, err := list.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	at := locator.Locator{Offset: uint64(len(file)), Size: uint64(len(b))}
	group := envelope.ClusterGroup{EntrySpan: uint64(entries), NumClusters: uint32(len(clusters)),
		PageList: locator.Link{Length: uint64(len(b)), Locator: at}}
	return open(t, s, append(file, b...), group)
}

func open(t *testing.T, s *schema.Schema, file []byte, groups ...envelope.ClusterGroup) *pagesource.Source {
	t.Helper()
	blobs := pagesource.Blobs{R: bytes.NewReader(file), Size: int64(len(file)), MaxKeySize: 1 << 30, MaxPage: 1 << 20}
	src, err := pagesource.NewSource(blobs, s, 0, &envelope.Footer{ClusterGroups: groups})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// options allow a moderate amount of memory.
var options = field.Options{Budget: 1 << 20}

// read reads all entries of a field, or whole entries if the path is empty, and
// returns a slice of them.
func read(t *testing.T, src *pagesource.Source, path string, typ reflect.Type,
	opts field.Options) (reflect.Value, error) {
	t.Helper()
	var chain []*schema.Field
	if path != "" {
		chain = lookup(t, src.Schema, path)
	}
	plan, err := field.Compile(src, chain, typ, opts)
	if err != nil {
		return reflect.Value{}, err
	}
	return run(plan, typ, int(src.Entries))
}

func run(plan *field.Plan, typ reflect.Type, n int) (reflect.Value, error) {
	all := reflect.MakeSlice(reflect.SliceOf(typ), n, n)
	defer plan.Stop()
	return all, plan.Read(context.Background(), 0, int64(n), all.UnsafePointer())
}

// readFrom reads the entries of a field from first on, as read does.
func readFrom(t *testing.T, src *pagesource.Source, path string, typ reflect.Type, first int) (reflect.Value, error) {
	t.Helper()
	plan, err := field.Compile(src, lookup(t, src.Schema, path), typ, options)
	if err != nil {
		return reflect.Value{}, err
	}
	defer plan.Stop()
	n := int(src.Entries) - first
	all := reflect.MakeSlice(reflect.SliceOf(typ), n, n)
	return all, plan.Read(t.Context(), int64(first), int64(n), all.UnsafePointer())
}

// sink collects what is written.
type sink struct {
	*pagesink.Sink
	schema *schema.Schema
	file   bytes.Buffer
}

func newSink(s *schema.Schema) (*sink, *field.Outlets) {
	w := &sink{schema: s}
	blob := func(parts ...[]byte) (int64, error) {
		at := w.file.Len()
		for _, p := range parts {
			w.file.Write(p)
		}
		return int64(at), nil
	}
	settings := pagesink.Settings{ZippedCluster: 1 << 20, UnzippedCluster: 1 << 20, MaxPage: 1 << 20, PageBudget: 1 << 20,
		MaxKeySize: 1 << 30, Workers: 1}
	w.Sink = pagesink.NewSink(context.Background(), &pagesink.Output{Blob: blob}, settings, 0)
	w.AddColumns(s.Columns)
	return w, field.NewOutlets(w.Sink)
}

// source ends writing and returns what was written.
func (w *sink) source(t *testing.T) *pagesource.Source {
	t.Helper()
	if err := w.CommitClusterGroup(); err != nil {
		t.Fatal(err)
	}
	return open(t, w.schema, w.file.Bytes(), w.Groups()...)
}

// write writes the values of a slice as entries, each in a call of its own, and the
// values of one field if the path is not empty.
func write(o *field.Outlets, w *sink, f *schema.Field, values any) error {
	all := reflect.ValueOf(values)
	typ := all.Type().Elem()
	var plan *field.WritePlan
	var err error
	if f == nil {
		plan, err = o.CompileEntries(w.schema.Fields, typ)
	} else {
		plan, err = o.CompileField(f, typ)
	}
	if err != nil {
		return err
	}
	for i := range all.Len() {
		if err := plan.Write(unsafe.Add(all.UnsafePointer(), uintptr(i)*typ.Size()), 1); err != nil {
			return err
		}
		if err := w.EndEntries(1); err != nil {
			return err
		}
	}
	return nil
}

// stored returns the elements of a column in a cluster, as text.
func stored(t *testing.T, src *pagesource.Source, name string, number int) string {
	t.Helper()
	clusters, err := src.Clusters(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all := []any{}
	for _, col := range src.Schema.Columns {
		if fmt.Sprintf("%s/%d", col.Owner.Path(), col.Index) != name {
			continue
		}
		for _, p := range clusters[number].Columns()[col.ID].Pages {
			err := src.Page(context.Background(), col.Format(), p, func(page []byte) error {
				values, err := col.Format().Values(page, int(p.NumElements))
				all = append(all, values...)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return fmt.Sprint(all)
}
