package draw

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// A Curve is what one histogram is filled with: expressions by their numbers in a program, -1
// for one that there is not.
type Curve struct {
	Label               string
	X, Y, Weight, Where int
}

// A Plan says what is filled into which bins.
type Plan struct {
	Program *expression.Program
	Names   []string // of the expressions, for messages
	Curves  []Curve
	Profile bool
	X, Y    Binning

	// Possible yields the entries of a range that can fill anything; the others are not read.
	// If it is nil, that is all of them.
	Possible func(rntuple.Source, rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error]

	// Condition, if it is not nil, holds for the entries that can fill anything. Where these are
	// few, fields that it does not need are read for them alone, and Possible is not used.
	Condition rntuple.Condition

	Progress func(done, total int64) // may be nil

	many atomic.Bool // it holds for too many entries
}

// Check reports whether the types of the expressions can be drawn.
func (p *Plan) Check() error {
	for _, c := range p.Curves {
		for _, i := range []int{c.X, c.Y, c.Weight, c.Where} {
			if i < 0 {
				continue
			}
			t := p.Program.Type(i)
			is := fmt.Sprintf("%s is %s", p.Names[i], t)
			words := t.Kind == expression.String && i == c.X && c.Y < 0
			switch {
			case i == c.Where && t.Kind != expression.Bool:
				return errors.New(is + ", not a condition")
			case t.Kind == expression.Other:
				return fmt.Errorf("%s has no values of one type; float(...), int(...) or string(...) would make some", p.Names[i])
			case t.Kind == expression.String && !words:
				return errors.New(is + ", not numbers")
			case words && (p.X.Range.known() || p.X.Log):
				return errors.New(is + ", which has neither a range nor a logarithm")
			case p.IsWords() && i == c.X && !words:
				return errors.New(is + ", and cannot be drawn over strings")
			}
		}
	}
	return nil
}

// IsWords reports whether the values are strings, of which there is a bin for each.
func (p *Plan) IsWords() bool {
	c := p.Curves[0]
	return p.Program.Type(c.X).Kind == expression.String
}

// wholes reports whether all values along an axis are whole numbers, and whether they are true and
// false.
func (p *Plan) wholes(axis func(Curve) int) (integers, bools bool) {
	integers, bools = true, true
	for _, c := range p.Curves {
		k := p.Program.Type(axis(c)).Kind
		integers = integers && (k == expression.Int || k == expression.Bool)
		bools = bools && k == expression.Bool
	}
	return integers, bools
}

// maxKept is how many numbers may be kept in memory to find their range before they are filled.
// If there are more, the entries are read twice.
var maxKept int64 = 1 << 24

// maxWords limits the number of words.
const maxWords = 1 << 16

// A found is what is known of the values of a curve in some entries.
type found struct {
	x, y    extremes
	missing int64
	kept    [][]values // by range of entries: those of each batch
	words   map[string]word
}

// A word is how often a string occurred: the sums of weights.
type word struct {
	n              int64
	weight, square float64
}

// join adds what was found in later entries.
func (f *found) join(g *found) {
	f.x, f.y, f.missing = f.x.join(g.x), f.y.join(g.y), f.missing+g.missing
	f.kept = append(f.kept, g.kept...)
	if f.words == nil {
		f.words = g.words
		return
	}
	for s, w := range g.words {
		v := f.words[s]
		f.words[s] = word{v.n + w.n, v.weight + w.weight, v.square + w.square}
	}
}

// Fill fills a histogram for each curve with the entries of a source, all with the same axes.
// An end of a range that is not known is found first.
func (p *Plan) Fill(s rntuple.Source) ([]*Histogram, error) {
	var all []*found
	var keptAll bool
	if p.Fixed() {
		for range p.Curves {
			all = append(all, &found{x: nothing, y: nothing})
		}
	} else {
		var err error
		if all, keptAll, err = p.find(s); err != nil {
			return nil, err
		}
	}
	if p.IsWords() {
		return p.countWords(all)
	}
	fresh, err := p.axes(all)
	if err != nil {
		return nil, err
	}
	if keptAll {
		return p.fillKept(all, fresh), nil
	}
	return p.fillEntries(s, fresh)
}

// axes returns a function that makes empty histograms.
func (p *Plan) axes(all []*found) (fresh func() []*Histogram, err error) {
	x, y := nothing, nothing
	for _, f := range all {
		x, y = x.join(f.x), y.join(f.y)
	}
	axis := func(b Binning, e extremes, of func(Curve) int) (*Axis, error) {
		integers, bools := p.wholes(of)
		if bools && b.Bins == 0 && math.IsNaN(b.Range.Low) && math.IsNaN(b.Range.High) && !b.Log {
			return WordAxis([]string{"false", "true"}), nil
		}
		return b.axis(e, integers)
	}
	xAxis, err := axis(p.X, x, func(c Curve) int { return c.X })
	if err != nil {
		return nil, err
	}
	var yAxis *Axis
	if p.Curves[0].Y >= 0 && !p.Profile {
		if yAxis, err = axis(p.Y, y, func(c Curve) int { return c.Y }); err != nil {
			return nil, err
		}
		if xAxis.Bins()*yAxis.Bins() > MaxBins {
			return nil, fmt.Errorf("%d by %d bins are too many", xAxis.Bins(), yAxis.Bins())
		}
	}
	return func() (all []*Histogram) {
		for _, c := range p.Curves {
			h := NewHistogram(xAxis, yAxis, p.Profile)
			h.Label = c.Label
			all = append(all, h)
		}
		return all
	}, nil
}

// find reads all values and finds their extremes. It keeps them if they are few, which kept says.
func (p *Plan) find(s rntuple.Source) (all []*found, kept bool, err error) {
	var n atomic.Int64
	words := p.IsWords()
	all, err = rntuple.Fold(s, func(s rntuple.Source, r rntuple.EntryRange) ([]*found, error) {
		result := make([]*found, len(p.Curves))
		for i := range result {
			result[i] = &found{x: nothing, y: nothing, kept: make([][]values, 1)}
			if words {
				result[i].words = map[string]word{}
			}
		}
		err := p.each(s, r, func(i int, v values, missing int64, word func(row int) []byte) error {
			f := result[i]
			f.missing += missing
			if words {
				return f.count(v, word)
			}
			f.x.add(v.x)
			f.y.add(v.y)
			if n.Add(int64(len(v.x)+len(v.y)+len(v.weight))) <= maxKept {
				f.kept[0] = append(f.kept[0], values{slices.Clone(v.x), slices.Clone(v.y), slices.Clone(v.weight)})
			} else {
				f.kept[0] = nil
			}
			return nil
		})
		return result, err
	}, func(a, b []*found) []*found {
		for i := range a {
			a[i].join(b[i])
		}
		return a
	}, &rntuple.FoldOptions{Progress: p.Progress})
	return all, n.Load() <= maxKept, err
}

// fillKept fills what find has kept, in the same steps as fillEntries would.
func (p *Plan) fillKept(all []*found, fresh func() []*Histogram) []*Histogram {
	sum, part := fresh(), fresh()
	for i, f := range all {
		for k, batches := range f.kept {
			h := part[i]
			if k == 0 {
				h = sum[i]
			}
			for _, v := range batches {
				h.fill(v)
			}
			if k > 0 {
				sum[i].add(h)
				h.clear()
			}
		}
		sum[i].Missing = f.missing
	}
	return sum
}

// fillEntries reads entries and fills their values.
func (p *Plan) fillEntries(s rntuple.Source, fresh func() []*Histogram) ([]*Histogram, error) {
	pool := sync.Pool{New: func() any {
		all := fresh()
		return &all
	}}
	sum, err := rntuple.Fold(s, func(s rntuple.Source, r rntuple.EntryRange) (*[]*Histogram, error) {
		all := pool.Get().(*[]*Histogram)
		err := p.each(s, r, func(i int, v values, missing int64, _ func(int) []byte) error {
			h := (*all)[i]
			h.fill(v)
			h.Missing += missing
			return nil
		})
		return all, err
	}, func(a, b *[]*Histogram) *[]*Histogram {
		for i, h := range *a {
			h.add((*b)[i])
			(*b)[i].clear()
		}
		pool.Put(b)
		return a
	}, &rntuple.FoldOptions{Progress: p.Progress})
	if err != nil {
		return nil, err
	}
	return *sum, nil
}

// each calls f with the values of each curve in batches of the entries in r; word returns the
// string in a row of a curve of strings. The values are valid until f returns.
func (p *Plan) each(s rntuple.Source, r rntuple.EntryRange,
	f func(i int, v values, missing int64, word func(row int) []byte) error) error {
	var a aligner
	for b, err := range p.batches(s, r) {
		if err != nil {
			return err
		}
		for i, c := range p.Curves {
			a.start(b.Len)
			for _, e := range []int{c.Where, c.X, c.Y, c.Weight} {
				switch {
				case e < 0:
				case e == c.Where:
					a.add(p.Names[e], b.Values[e], condition)
				default:
					a.add(p.Names[e], b.Values[e], drawn)
				}
			}
			missing, err := a.align()
			if unequal := (*lengthError)(nil); errors.As(err, &unequal) {
				return fmt.Errorf("entry %d: %w", b.First+unequal.entry, err)
			} else if err != nil {
				return err
			}
			var v values
			columns := a.columns
			x := &columns[0]
			v.x = a.numbers(x)
			if columns = columns[1:]; c.Y >= 0 {
				v.y = a.numbers(&columns[0])
				columns = columns[1:]
			}
			if c.Weight >= 0 {
				v.weight = a.numbers(&columns[0])
			}
			word := func(row int) []byte { return x.word(int64(row)) }
			if p.IsWords() {
				v.x = a.floats.get(a.rows) // as many as there are words
			}
			if err := f(i, v, missing, word); err != nil {
				return err
			}
		}
	}
	return nil
}

// batches yields the values of the expressions in the entries that can fill anything.
func (p *Plan) batches(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[*expression.Batch, error] {
	if p.Condition != nil && !p.many.Load() {
		return p.chosen(s, r)
	}
	if p.Possible == nil {
		return p.Program.In(s, r)
	}
	return func(yield func(*expression.Batch, error) bool) {
		for r, err := range p.Possible(s, r) {
			if err != nil {
				yield(nil, err)
				return
			}
			for b, err := range p.Program.In(s, r) {
				if !yield(b, err) {
					return
				}
			}
		}
	}
}

// chosen yields the values in the entries for which the condition holds.
func (p *Plan) chosen(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[*expression.Batch, error] {
	return func(yield func(*expression.Batch, error) bool) {
		var all []rntuple.EntryRange
		for one, err := range p.Condition.Select(s, r) {
			if err != nil {
				yield(nil, err)
				return
			}
			all = append(all, one)
		}
		chosen, err := rntuple.Select(s, all...)
		if err != nil {
			yield(nil, err)
			return
		}
		// What can fail is computed for these entries alone, however many they are.
		if chosen.NumEntries() > r.Len()/2 && !p.Program.CanFail() {
			p.many.Store(true)
		}
		p.Program.In(chosen, rntuple.EntryRange{End: chosen.NumEntries()})(yield)
	}
}

// count counts words.
func (f *found) count(v values, text func(row int) []byte) error {
	last, at := []byte(nil), ""
	for row := range v.x {
		w := 1.0
		if v.weight != nil {
			w = v.weight[row]
		}
		if b := text(row); row == 0 || !bytes.Equal(b, last) {
			last, at = b, string(b)
		}
		c, ok := f.words[at]
		if !ok && len(f.words) == maxWords {
			return fmt.Errorf("there are more than %d different strings", maxWords)
		}
		f.words[at] = word{c.n + 1, c.weight + w, c.square + w*w}
	}
	return nil
}

// countWords makes histograms of words, those with the greatest sums first. Words for which
// there is no bin are above the last one.
func (p *Plan) countWords(all []*found) ([]*Histogram, error) {
	sums := map[string]float64{}
	for _, f := range all {
		for s, w := range f.words {
			sums[s] += w.weight
		}
	}
	words := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
	})
	most := cmp.Or(p.X.Bins, min(p.X.Most, 25))
	axis := WordAxis(words[:min(most, len(words))])
	if len(words) == 0 {
		axis = WordAxis([]string{""})
	}
	var histograms []*Histogram
	for i, f := range all {
		h := NewHistogram(axis, nil, false)
		h.Label, h.Missing = p.Curves[i].Label, f.missing
		for k, s := range words {
			w := f.words[s]
			h.Bins[min(k, most)+1].add(&Bin{N: w.n, W: w.weight, W2: w.square})
			h.Entries += w.n
			if k < most {
				h.inside.w += w.weight
			}
		}
		histograms = append(histograms, h)
	}
	return histograms, nil
}
