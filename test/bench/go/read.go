package main

import (
	"fmt"
	"math"
	"reflect"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/test/bench/work"
)

// open opens a file for threads that divide the work among themselves, so that views need
// no workers of their own.
func open(file string) (*rntuple.Reader, error) {
	return rntuple.Open(file, "Events", &rntuple.ReadOptions{Workers: 1})
}

// overEntries opens a file, divides its entries among threads, and returns the sums
// to which read adds for ranges of entries.
func overEntries(file string, threads, sums int,
	read func(r *rntuple.Reader, entries rntuple.EntryRange, sums []uint64) error) ([]uint64, error) {
	r, err := open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return work.Spread(threads, sums, func(i int, sums []uint64) error {
		first := func(i int) int64 { return r.NumEntries() * int64(i) / int64(threads) }
		return read(r, rntuple.EntryRange{First: first(i), End: first(i + 1)}, sums)
	})
}

// A column reads a range of entries of a field, into memory that it shares with
// others, and returns their sum.
type column interface {
	read(rntuple.EntryRange, *memory) (uint64, error)
}

// memory is the memory that columns are read into.
type memory struct {
	offsets [batch + 1]int64
	slices  map[reflect.Type]any
}

// sliceOf returns the place of the elements of type T.
func sliceOf[T any](m *memory) *[]T {
	if m.slices == nil {
		m.slices = map[reflect.Type]any{}
	}
	t := reflect.TypeFor[T]()
	if m.slices[t] == nil {
		s := make([]T, batch)
		m.slices[t] = &s
	}
	return m.slices[t].(*[]T)
}

// batch is how many entries are read at once: a page of doubles, as ROOT writes
// them.
const batch = 1 << 17

// flat is a column of numbers.
type flat[T work.Number] struct{ view *rntuple.View[T] }

func openFlat[T work.Number](r *rntuple.Reader, name string) (column, error) {
	view, err := rntuple.ViewOf[T](r, name)
	return &flat[T]{view}, err
}

func (c *flat[T]) read(entries rntuple.EntryRange, m *memory) (sum uint64, err error) {
	buf := (*sliceOf[T](m))[:batch]
	for at := entries.First; at < entries.End; {
		n, err := c.view.Read(buf[:min(batch, entries.End-at)], at)
		if err != nil {
			return 0, err
		}
		sum += work.SumOf(buf[:n])
		at += int64(n)
	}
	return sum, nil
}

// jagged is a column of collections of numbers.
type jagged[T work.Number] struct{ view *rntuple.JaggedView[T] }

func openJagged[T work.Number](r *rntuple.Reader, name string) (column, error) {
	view, err := rntuple.JaggedOf[T](r, name)
	return &jagged[T]{view}, err
}

func (c *jagged[T]) read(entries rntuple.EntryRange, m *memory) (sum uint64, err error) {
	items := sliceOf[T](m)
	for at := entries.First; at < entries.End; {
		var n int
		offsets := m.offsets[:min(batch, entries.End-at)+1]
		if *items, n, err = c.view.Read(offsets, *items, at); err != nil {
			return 0, err
		}
		sum += work.SumOfItems((*items)[:offsets[n]])
		at += int64(n)
	}
	return sum, nil
}

// openColumn opens the column for a member of a struct of entries.
func openColumn(r *rntuple.Reader, member reflect.StructField) (column, error) {
	switch reflect.Zero(member.Type).Interface().(type) {
	case bool:
		return openFlat[bool](r, member.Name)
	case int32:
		return openFlat[int32](r, member.Name)
	case uint32:
		return openFlat[uint32](r, member.Name)
	case uint64:
		return openFlat[uint64](r, member.Name)
	case float32:
		return openFlat[float32](r, member.Name)
	case float64:
		return openFlat[float64](r, member.Name)
	case []int32:
		return openJagged[int32](r, member.Name)
	case []float32:
		return openJagged[float32](r, member.Name)
	}
	return nil, fmt.Errorf("no column for %s %v", member.Name, member.Type)
}

// bulk reads all columns, cluster by cluster. Threads take the next column of a cluster when they
// are done with one.
func bulk[E any](file string, threads int) ([]uint64, error) {
	r, err := open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	clusters, err := r.Clusters()
	if err != nil {
		return nil, err
	}
	members := reflect.VisibleFields(reflect.TypeFor[E]())
	var next atomic.Int64
	return work.Spread(threads, len(members), func(_ int, sums []uint64) error {
		columns := make([]column, len(members))
		var m memory
		for i := int(next.Add(1)) - 1; i < len(clusters)*len(members); i = int(next.Add(1)) - 1 {
			k := i % len(members)
			if columns[k] == nil {
				c, err := openColumn(r, members[k])
				if err != nil {
					return err
				}
				columns[k] = c
			}
			sum, err := columns[k].read(clusters[i/len(members)], &m)
			if err != nil {
				return err
			}
			sums[k] += sum
		}
		return nil
	})
}

// entries returns a function that reads all entries into structs.
func entries[E any, P interface {
	*E
	work.Entry
}](opts *rntuple.EntriesOptions) func(file string, threads int) ([]uint64, error) {
	return func(file string, threads int) ([]uint64, error) {
		return overEntries(file, threads, reflect.TypeFor[E]().NumField(),
			func(r *rntuple.Reader, entries rntuple.EntryRange, sums []uint64) error {
				for e, err := range rntuple.EntriesIn[E](r, entries, opts) {
					if err != nil {
						return err
					}
					P(e).AddTo(sums)
				}
				return nil
			})
	}
}

// batches reads all fields in batches, with as many workers as threads.
func batches(file string, _ int) ([]uint64, error) {
	r, err := rntuple.Open(file, "Events", nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sums := make([]uint64, len(r.Schema().Fields))
	for b, err := range rntuple.Batches(r, nil) {
		if err != nil {
			return nil, err
		}
		for i, column := range b.Columns {
			sum, err := sumOfArray(column)
			if err != nil {
				return nil, err
			}
			sums[i] += sum
		}
	}
	return sums, nil
}

// sumOfArray returns the sum of numbers, or of collections of numbers.
func sumOfArray(a *columnar.Array) (uint64, error) {
	items := 0
	if a.Shape == schema.Collection {
		a = a.Children[0]
		items = a.Len
	}
	switch values := a.Values().(type) {
	case []bool:
		return work.SumOf(values), nil
	case []int32:
		return work.SumOf(values) + work.Item*uint64(items), nil
	case []uint32:
		return work.SumOf(values), nil
	case []uint64:
		return work.SumOf(values), nil
	case []float32:
		return work.SumOf(values) + work.Item*uint64(items), nil
	case []float64:
		return work.SumOf(values), nil
	}
	return 0, fmt.Errorf("no sum of %s %v", a.Name, a.Shape)
}

// views reads four columns of doubles.
func views(file string, threads int) ([]uint64, error) {
	return overEntries(file, threads, 4, func(r *rntuple.Reader, entries rntuple.EntryRange, sums []uint64) error {
		var m memory
		for i, name := range []string{"H1_PX", "H1_PY", "H1_PZ", "H1_ProbK"} {
			c, err := openFlat[float64](r, name)
			if err != nil {
				return err
			}
			if sums[i], err = c.read(entries, &m); err != nil {
				return err
			}
		}
		return nil
	})
}

// random reads single entries of one field.
func random(file string, _ int) ([]uint64, error) {
	r, err := rntuple.Open(file, "Events", nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	view, err := rntuple.ViewOf[float64](r, "H1_PX")
	if err != nil {
		return nil, err
	}
	random, sum := work.Random(1), uint64(0)
	for range 10_000 {
		x, err := view.At(int64(random.Bits() % uint64(r.NumEntries())))
		if err != nil {
			return nil, err
		}
		sum += math.Float64bits(x)
	}
	return []uint64{sum}, nil
}

// openWide opens a file and reads one value from the middle.
func openWide(file string, _ int) ([]uint64, error) {
	r, err := rntuple.Open(file, "Events", nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	view, err := rntuple.ViewOf[float32](r, "f0")
	if err != nil {
		return nil, err
	}
	x, err := view.At(r.NumEntries() / 2)
	return []uint64{uint64(r.NumEntries()), uint64(math.Float32bits(x))}, err
}
