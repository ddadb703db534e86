package rntuple_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// BenchmarkBatches reads all fields of the file in batches, and the same columns in views
// of their own: in calls as long, and with offsets for each collection.
func BenchmarkBatches(b *testing.B) {
	r, err := rntuple.Open("../testdata/dimuon.root", "Events", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	n := r.NumEntries()
	var names []string // without the collection that others project
	for _, f := range r.Schema().Fields {
		if f.Shape != schema.Collection || f.Source != nil {
			names = append(names, f.Name)
		}
	}
	b.Run("batches", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range rntuple.Batches(r, &rntuple.BatchOptions{Fields: names}) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("views", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, name := range names {
				chain, err := r.Schema().Lookup(name)
				if err == nil {
					err = readColumn(r, chain[0], n)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// readColumn reads n values of a field in a view of the Go type that fits.
func readColumn(r *rntuple.Reader, f *schema.Field, n int64) error {
	item, jagged := f, f.Shape == schema.Collection
	if jagged {
		item = f.Children[0]
	}
	if item.Shape == schema.Cardinality {
		return columnOf[uint64](r, f.Name, false, n)
	}
	switch item.ElementKind() {
	case reflect.Bool:
		return columnOf[bool](r, f.Name, jagged, n)
	case reflect.Int32:
		return columnOf[int32](r, f.Name, jagged, n)
	case reflect.Uint32:
		return columnOf[uint32](r, f.Name, jagged, n)
	case reflect.Uint64:
		return columnOf[uint64](r, f.Name, jagged, n)
	case reflect.Float32:
		return columnOf[float32](r, f.Name, jagged, n)
	}
	return fmt.Errorf("no view of field %v", f)
}

func columnOf[T any](r *rntuple.Reader, name string, jagged bool, n int64) error {
	const size = 1 << 14
	if jagged {
		v, err := rntuple.JaggedOf[T](r, name)
		if err != nil {
			return err
		}
		offsets, items := make([]int64, size+1), []T(nil)
		for at, got := int64(0), 0; err == nil && at < n; at += int64(got) {
			items, got, err = v.Read(offsets, items, at)
		}
		return err
	}
	v, err := rntuple.ViewOf[T](r, name)
	if err != nil {
		return err
	}
	values := make([]T, size)
	for at, got := int64(0), 0; err == nil && at < n; at += int64(got) {
		got, err = v.Read(values, at)
	}
	return err
}

// BenchmarkRead reads the 80,000 entries of a NanoAOD-like file in all ways that
// there are.
func BenchmarkRead(b *testing.B) {
	r, err := rntuple.Open("../testdata/dimuon.root", "Events", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	type event struct {
		Run    uint32    `rntuple:"run"`
		Pt     []float32 `rntuple:"Muon_pt"`
		Eta    []float32 `rntuple:"Muon_eta"`
		Charge []int32   `rntuple:"Muon_charge"`
	}
	n := r.NumEntries()
	for _, way := range []struct {
		name string
		read func() error
	}{
		{"plan", func() error {
			_, err := rntuple.ViewOf[event](r, "")
			return err
		}},
		{"entries", func() error {
			for _, err := range rntuple.Entries[event](r) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"records", func() error {
			v, err := rntuple.RecordsOf(r)
			if err != nil {
				return err
			}
			var last value.Record
			for _, last = range v.All() {
				_ = last
			}
			return v.Err()
		}},
		{"column", func() error {
			v, err := rntuple.ViewOf[uint64](r, "event")
			if err != nil {
				return err
			}
			_, err = v.Read(make([]uint64, n), 0)
			return err
		}},
		{"jagged column", func() error {
			v, err := rntuple.JaggedOf[float32](r, "Muon_pt")
			if err != nil {
				return err
			}
			_, _, err = v.Read(make([]int64, n+1), nil, 0)
			return err
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := way.read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
