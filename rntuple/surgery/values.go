package surgery

import (
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/go-rntuple/go-rntuple/internal/entrance"
	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// defined are definitions for the fields of one source.
type defined []*bound

// readerOf returns the Reader of an input.
func readerOf(base *ntuple.Reader) *rntuple.Reader { return entrance.Reader(base).(*rntuple.Reader) }

// selection returns the selection of those of the entries of an input within a range for which a
// condition holds, all of them if it is nil, with the fields that are defined.
func (c *config) selection(base *ntuple.Reader, within rntuple.EntryRange,
	keep rntuple.Condition) (s selection, err error) {
	in := readerOf(base)
	s.within = within
	if keep != nil {
		if err := keep.Check(in); err != nil {
			return s, err
		}
		s.ranges = evaluated(base, within, keep)
	}
	if len(c.define) == 0 {
		return s, nil
	}
	var d defined
	for _, one := range c.define {
		b, err := one.bind(in)
		if err != nil {
			return s, err
		}
		d, s.fields = append(d, b), append(s.fields, b.fields...)
	}
	entries := chosen{Source: in, n: in.NumEntries(), entry: func(i int64) int64 { return i }}
	if within.First > 0 || within.End < entries.n {
		part, err := rntuple.Select(in, within)
		if err != nil {
			return s, err
		}
		entries = chosen{Source: part, n: part.NumEntries(), entry: part.Entry}
	}
	s.begin = func(out *field.Outlets, to []*schema.Field) (*stream, error) {
		if keep != nil {
			selected, err := rntuple.Where(entries.Source, keep, nil)
			if err != nil {
				return nil, err
			}
			entries = chosen{selected, selected.NumEntries(), func(i int64) int64 { return within.First + selected.Entry(i) },
				selected.Ranges()}
		}
		clusters, err := in.Clusters()
		if err != nil {
			return nil, err
		}
		return d.begin(entries, entries.units(clusters), base.Options.Workers, out, to)
	}
	if keep != nil {
		s.ranges = func(yield func(rntuple.EntryRange, error) bool) {
			for e := range entries.ranges {
				if !yield(rntuple.EntryRange{First: within.First + e.First, End: within.First + e.End}, nil) {
					return
				}
			}
		}
	}
	return s, nil
}

// chosen are the entries of an input that are taken.
type chosen struct {
	rntuple.Source
	n      int64
	entry  func(i int64) int64          // returns the number that entry i has in the input
	ranges iter.Seq[rntuple.EntryRange] // of what they are chosen from
}

// The number of entries in a unit, the part for which values are computed at once. Few make
// the cost of a unit matter, and many its memory.
const (
	leastUnit = 1 << 12
	mostUnit  = 1 << 18
)

// units cuts the entries into units, where clusters of the input end if these have a fitting
// size.
func (c *chosen) units(clusters []rntuple.EntryRange) (all []rntuple.EntryRange) {
	unit := rntuple.EntryRange{}
	add := func(end int64) {
		unit.End = end
		all, unit.First = append(all, unit), end
	}
	for _, cluster := range clusters {
		end, limit := unit.First, c.n // end becomes the first entry behind the cluster
		for end < limit {
			if middle := end + (limit-end)/2; c.entry(middle) < cluster.End {
				end = middle + 1
			} else {
				limit = middle
			}
		}
		for end-unit.First > mostUnit {
			add(unit.First + mostUnit)
		}
		if n := end - unit.First; n >= leastUnit || n > 0 && end == c.n {
			add(end)
		}
	}
	return all
}

// begin begins to compute values for the entries that are chosen, by units, in several
// goroutines.
func (d defined) begin(c chosen, units []rntuple.EntryRange, workers int, out *field.Outlets,
	to []*schema.Field) (*stream, error) {
	v := &stream{chosen: c, units: units}
	for _, b := range d {
		w, err := b.writer(out, to[:len(b.fields)])
		if err != nil {
			return nil, err
		}
		v.write, to = append(v.write, w), to[len(b.fields):]
	}
	v.ahead = parallel.NewAhead(workers, len(units), func(i int) ([]block, error) {
		blocks := make([]block, len(d))
		for k, b := range d {
			var err error
			if blocks[k], err = b.compute(c.Source, units[i]); err != nil {
				return nil, err
			}
		}
		return blocks, nil
	})
	return v, nil
}

// A stream is the values of the fields that are defined, in the order of the entries. One
// goroutine uses it.
type stream struct {
	chosen chosen
	ahead  *parallel.Ahead[[]block]
	write  []writer
	units  []rntuple.EntryRange // the one that is being written, and later ones

	blocks []block // values of the first unit, by definition; nil if there are none yet
	at     int64   // the first entry that is not written
}

// append appends the values for the next n entries to the outlets that the stream was begun with.
func (v *stream) append(n int64) error {
	for n > 0 {
		if v.blocks == nil {
			var err error
			if v.blocks, err = v.ahead.Next(); err != nil {
				return err
			}
		}
		unit := v.units[0]
		first, some := int(v.at-unit.First), int(min(n, unit.End-v.at))
		for i, write := range v.write {
			if err := write(v.blocks[i], first, some); err != nil {
				return v.locate(i, first, some)
			}
		}
		n -= int64(some)
		if v.at += int64(some); v.at == unit.End {
			v.units, v.blocks = v.units[1:], nil
		}
	}
	return nil
}

// locate returns the error that definition i has with one of n values of its block. Nothing
// can be written after it.
func (v *stream) locate(i, first, n int) error {
	for k := first; k < first+n; k++ {
		if err := v.write[i](v.blocks[i], k, 1); err != nil {
			return fmt.Errorf("entry %d: %w", v.chosen.entry(v.units[0].First+int64(k)), err)
		}
	}
	return errors.New("values cannot be written")
}

// stop ends what computes values in the background.
func (v *stream) stop() { v.ahead.Stop() }

// Where computing values has ended by a panic or by runtime.Goexit, pass passes that on.
func pass(err error) {
	var p *parallel.PanicError
	switch {
	case errors.As(err, &p):
		panic(p)
	case errors.Is(err, parallel.ErrExit):
		runtime.Goexit()
	}
}
