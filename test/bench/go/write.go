package main

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/test/bench/work"
)

// A writer has all entries in memory, to write them to files.
type writer interface {
	write(output string, threads int, settings compress.Settings) error
}

// A columnWriter has them column by column.
type columnWriter struct {
	doc     *schema.Document
	entries int64
	columns []source
}

// A source puts the entries from first on, n of them, into a field.
type source interface {
	put(w *rntuple.ColumnWriter, first, n int64) error
}

type flatSource[T work.Number] struct {
	name   string
	values []T
}

func (s *flatSource[T]) put(w *rntuple.ColumnWriter, first, n int64) error {
	return rntuple.Put(w, s.name, s.values[first:first+n])
}

func loadFlat[T work.Number](r *rntuple.Reader, name string) (source, error) {
	view, err := rntuple.ViewOf[T](r, name)
	if err != nil {
		return nil, err
	}
	values := make([]T, r.NumEntries())
	_, err = view.Read(values, 0)
	return &flatSource[T]{name, values}, err
}

type jaggedSource[T work.Number] struct {
	name    string
	offsets []int64
	items   []T
}

func (s *jaggedSource[T]) put(w *rntuple.ColumnWriter, first, n int64) error {
	return rntuple.PutJagged(w, s.name, s.offsets[first:first+n+1], s.items)
}

func loadJagged[T work.Number](r *rntuple.Reader, name string) (source, error) {
	view, err := rntuple.JaggedOf[T](r, name)
	if err != nil {
		return nil, err
	}
	offsets := make([]int64, r.NumEntries()+1)
	items, _, err := view.Read(offsets, nil, 0)
	return &jaggedSource[T]{name, offsets, items}, err
}

// load loads the field for a member of a struct of entries.
func load(r *rntuple.Reader, member reflect.StructField) (source, error) {
	switch reflect.Zero(member.Type).Interface().(type) {
	case bool:
		return loadFlat[bool](r, member.Name)
	case int32:
		return loadFlat[int32](r, member.Name)
	case uint32:
		return loadFlat[uint32](r, member.Name)
	case uint64:
		return loadFlat[uint64](r, member.Name)
	case float32:
		return loadFlat[float32](r, member.Name)
	case float64:
		return loadFlat[float64](r, member.Name)
	case []int32:
		return loadJagged[int32](r, member.Name)
	case []float32:
		return loadJagged[float32](r, member.Name)
	}
	return nil, fmt.Errorf("no column for %s %v", member.Name, member.Type)
}

func newColumnWriter[E any](file string) (writer, error) {
	r, err := rntuple.Open(file, "Events", nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	w := &columnWriter{doc: &schema.Document{}, entries: r.NumEntries()}
	for _, f := range r.Schema().Fields {
		w.doc.Fields = append(w.doc.Fields, &schema.FieldDocument{Name: f.Name, Type: f.CppType()})
	}
	for _, member := range reflect.VisibleFields(reflect.TypeFor[E]()) {
		s, err := load(r, member)
		if err != nil {
			return nil, err
		}
		w.columns = append(w.columns, s)
	}
	return w, nil
}

func (c *columnWriter) write(output string, threads int, settings compress.Settings) error {
	w, err := rntuple.CreateColumns(output, "Events", c.doc,
		&rntuple.WriteOptions{Compression: settings, Workers: threads})
	if err != nil {
		return err
	}
	const batch = 1 << 16
	for at := int64(0); at < c.entries; at += batch {
		n := min(batch, c.entries-at)
		for _, s := range c.columns {
			if err := s.put(w, at, n); err != nil {
				return err
			}
		}
		if err := w.End(n); err != nil {
			return err
		}
	}
	return w.Close()
}

// A rowWriter has them as structs.
type rowWriter[E any] struct{ rows []E }

func newRowWriter[E any](file string) (writer, error) { return loadRows[E](file) }

func loadRows[E any](file string) (*rowWriter[E], error) {
	r, err := rntuple.Open(file, "Events", nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	w := &rowWriter[E]{make([]E, 0, r.NumEntries())}
	for e, err := range rntuple.Entries[E](r) {
		if err != nil {
			return nil, err
		}
		w.rows = append(w.rows, *e)
	}
	return w, nil
}

func (r *rowWriter[E]) write(output string, threads int, settings compress.Settings) error {
	w, err := rntuple.Create[E](output, "Events", &rntuple.WriteOptions{Compression: settings, Workers: threads})
	if err != nil {
		return err
	}
	w.WriteBatch(r.rows) // Close returns the first error
	return w.Close()
}

// A fillWriter has each thread write a part of the structs.
type fillWriter[E any] struct{ *rowWriter[E] }

func newFillWriter[E any](file string) (writer, error) {
	r, err := loadRows[E](file)
	return fillWriter[E]{r}, err
}

func (r fillWriter[E]) write(output string, threads int, settings compress.Settings) error {
	w, err := rntuple.Create[E](output, "Events", &rntuple.WriteOptions{Compression: settings, Workers: threads})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for t := range threads {
		f, rows := w.Filler(), r.rows[len(r.rows)*t/threads:len(r.rows)*(t+1)/threads]
		wg.Go(func() {
			f.WriteBatch(rows) // Close returns the first error
			f.Close()
		})
	}
	wg.Wait()
	return w.Close()
}

// skim writes the entries of data set J with a MET_pt above met.
func skim(file, output string, met float32, settings compress.Settings) error {
	above := rntuple.WhereFunc(func(e *struct {
		MET float32 `rntuple:"MET_pt"`
	}) bool {
		return e.MET > met
	})
	opts := &surgery.SkimOptions{Options: surgery.Options{Write: rntuple.WriteOptions{Compression: settings}}}
	_, err := surgery.Skim(context.Background(), output, []surgery.Input{{Path: file, Name: "Events"}}, above, opts)
	return err
}
