package surgery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// Merge makes a ROOT file at out with one RNTuple, which has the entries of the
// inputs one after the other. A file that was there is replaced when everything
// has gone well; it must not be one of the inputs.
//
// The schema is that of the first input: fields and columns with their encodings,
// projected fields, and what was added to it later as what was added later. In the
// mode Union, fields that come with another input are added behind that. Fields go
// together by name. They must be of the same type, version and structure, and
// their columns of the same type, but one may be split and the other not; see
// ConvertTypes for more. Column representations that the first input does not have
// are unified into its first one, if that can hold all values. Files that ROOT
// wrote before format 1.0.0.0 can be inputs as well.
//
// The error is an *IncompatibleError if inputs do not go together; nothing is
// written then. Other errors name the input, and wrap those of package rntuple.
//
// Source: ROOT's document "RNTuple merging process" and class RNTupleMerger. What
// is beyond that: attribute sets, several representations, the levels Recompress
// and Rewrite, clusters and cluster groups of other sizes.
func Merge(ctx context.Context, out string, inputs []Input, opts ...Option) (*Report, error) {
	if err := notAmong(out, inputs); err != nil {
		return nil, err
	}
	m := &merger{inputs: inputs, set: newSettings(opts)}
	if err := m.check(ctx); err != nil {
		return nil, err
	}
	f, err := m.set.create(out)
	if err != nil {
		return nil, err
	}
	return m.report(f, m.create(ctx, f))
}

// MergeInto adds the entries of the inputs to those of the RNTuple into, as Merge
// does it with into as the first input, but in its file: what the RNTuple has
// stays where it is and is not read. Readers see the new entries once all are
// there. The RNTuple gets a higher cycle, and the earlier one stays readable under
// its own. The options Name and Compression have no effect on what is there.
func MergeInto(ctx context.Context, into Input, inputs []Input, opts ...Option) (*Report, error) {
	if err := notAmong(into.Path, inputs); err != nil {
		return nil, err
	}
	m := &merger{inputs: append([]Input{into}, inputs...), set: newSettings(opts), inPlace: true}
	if err := m.check(ctx); err != nil {
		return nil, err
	}
	f, err := m.set.update(into.Path)
	if err != nil {
		return nil, err
	}
	return m.report(f, m.resume(ctx, f))
}

// notAmong makes sure that a file that is written is no input.
func notAmong(out string, inputs []Input) error {
	if len(inputs) == 0 {
		return errors.New("there are no inputs")
	}
	info, err := os.Stat(out)
	if err != nil {
		return nil // it is yet to be
	}
	for _, i := range inputs {
		if other, err := os.Stat(i.Path); err == nil && os.SameFile(info, other) {
			return fmt.Errorf("%s is an input, and would be overwritten", out)
		}
	}
	return nil
}

// A merger merges. It goes over the inputs twice, and has one open at a time.
type merger struct {
	inputs  []Input
	set     *settings
	inPlace bool
	pick    picker // nil: all entries

	shape       *shape
	sets        map[string]*shape // schemas of the attribute sets
	compression compress.Settings
	bytes       []int64 // sizes of the inputs
	total, done int64

	result Report
	out    *output
}

// report ends the merger's work on a file.
func (m *merger) report(f *ntuple.File, err error) (*Report, error) {
	if err != nil {
		if m.out != nil {
			m.out.fail(err)
		}
		f.Abort()
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	m.result.Inputs = len(m.inputs)
	return &m.result, nil
}

// check goes over the schemas of all inputs.
func (m *merger) check(ctx context.Context) error {
	var problems []Problem
	found := false
	m.sets = map[string]*shape{}
	for n := range m.inputs {
		err := m.with(ctx, n, func(src *source) error {
			if !found {
				c, ok, err := src.compression(ctx)
				if err != nil {
					return err
				}
				m.compression, found = c, ok
			}
			info, err := os.Stat(m.inputs[n].Path)
			if err != nil {
				return err
			}
			m.bytes = append(m.bytes, info.Size())
			more, err := m.checkOne(src, n)
			problems = append(problems, more...)
			if err == nil && m.pick != nil {
				_, err = m.picked(ctx, n, src)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return &IncompatibleError{problems}
	}
	for n, size := range m.bytes {
		if n > 0 || !m.inPlace {
			m.total += size
		}
	}
	if !found {
		m.compression = 505
	}
	if m.set.compression != nil {
		m.compression = *m.set.compression
	}
	m.set.write = append([]rntuple.WriteOption{rntuple.Compression(m.compression)}, m.set.write...)
	m.set.write = append(m.set.write, rntuple.WriteContext(ctx))
	return nil
}

// checkOne compares an input with those before it.
func (m *merger) checkOne(src *source, n int) ([]Problem, error) {
	var problems []Problem
	join := func(s *shape, src *source, mode Mode) error {
		fit := compare(s.Schema, src.schema(), m.set.convert)
		fit.apply(mode)
		for _, p := range fit.problems {
			p.Input = src.name
			problems = append(problems, p)
		}
		if mode == Union && len(fit.problems) == 0 {
			return s.extend(fit.extra)
		}
		return nil
	}
	var err error
	if n == 0 {
		m.shape, err = src.shape()
	} else {
		err = join(m.shape, src, m.set.mode)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.name, err)
	}
	return problems, m.eachSet(src, func(set *source) error {
		if s := m.sets[set.Header.Name]; s != nil {
			return join(s, set, Strict)
		}
		s, err := set.shape()
		m.sets[set.Header.Name] = s
		return err
	})
}

// with calls f with an input, which it opens and closes.
func (m *merger) with(ctx context.Context, n int, f func(*source) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	src, err := openSource(ctx, m.inputs[n], m.set.read...)
	if err != nil {
		return err
	}
	if !m.inPlace {
		err = src.prune(m.set.keep, m.set.drop)
	}
	if err == nil {
		err = f(src)
	}
	if closeErr := src.close(); err == nil {
		err = closeErr
	}
	return err
}

// eachSet calls f with the attribute sets of an input that are to be kept.
func (m *merger) eachSet(src *source, f func(*source) error) error {
	if m.set.dropAttributes {
		return nil
	}
	for _, a := range src.Footer.AttributeSets {
		set, err := src.set(a.Name)
		if err == nil {
			err = f(set)
			set.ahead.Stop()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// create merges all inputs into a new file.
func (m *merger) create(ctx context.Context, f *ntuple.File) error {
	for n := range m.inputs {
		err := m.with(ctx, n, func(src *source) error {
			if n == 0 {
				if err := m.begin(f, src); err != nil {
					return err
				}
			}
			return m.add(ctx, n, src)
		})
		if err != nil {
			return err
		}
	}
	return m.out.finish()
}

// begin begins the output with the schema of the first input.
func (m *merger) begin(f *ntuple.File, src *source) error {
	s, err := src.shape()
	if err != nil {
		return err
	}
	if m.set.name != "" {
		s.header.Name = m.set.name
	}
	m.out, err = newOutput(f, s, m.set, &m.result)
	if err != nil {
		return err
	}
	if src.part != nil {
		m.result.Dropped = src.part.dropped
	}
	if src.Footer.Extension != nil && m.pick == nil {
		m.out.keepFirst(src)
	}
	m.out.Features = slices.Clone(src.Footer.Features)
	return nil
}

// keepFirst keeps where the further representations of the first input begin.
func (o *output) keepFirst(src *source) {
	for _, c := range src.schema().Columns {
		first := int64(0)
		if c.Representation > 0 {
			first = c.FirstElement
		}
		o.first = append(o.first, first)
	}
}

// resume adds all inputs but the first to the file of that.
func (m *merger) resume(ctx context.Context, f *ntuple.File) error {
	return m.with(ctx, 0, func(first *source) error {
		out, err := resumeOutput(f, first, m.set, &m.result)
		if err != nil {
			return err
		}
		m.out = out
		for n := range m.inputs[1:] {
			if err := m.with(ctx, n+1, func(src *source) error { return m.add(ctx, n+1, src) }); err != nil {
				return err
			}
		}
		return m.out.finish()
	})
}

// add appends the entries of an input and its attribute sets.
func (m *merger) add(ctx context.Context, n int, src *source) error {
	first := m.out.Sink.Entries()
	progress := func(entries int64) {
		if m.set.progress != nil && src.Source.Entries > 0 {
			part := float64(entries) / float64(src.Source.Entries)
			m.set.progress(m.done+int64(part*float64(m.bytes[n])), m.total)
		}
	}
	var taken []rntuple.EntryRange
	var err error
	if m.pick == nil {
		err = m.addTo(ctx, m.out, src, 0, progress)
	} else {
		taken, err = m.addPicked(ctx, n, src, progress)
	}
	if err != nil {
		return err
	}
	m.result.InputEntries += src.Source.Entries
	if err := m.eachSet(src, func(set *source) error {
		name := set.Header.Name
		if m.out.sets[name] == nil {
			if err := m.beginSet(set); err != nil {
				return err
			}
		}
		if m.pick != nil && !whole(taken, src.Source.Entries) {
			return m.addRanges(ctx, m.out.sets[name], src, set, taken, first)
		}
		return m.addTo(ctx, m.out.sets[name], set, uint64(first), func(int64) {})
	}); err != nil {
		return err
	}
	m.done += m.bytes[n]
	if n == 0 {
		m.out.settle()
	}
	return m.out.wait()
}

// beginSet begins an attribute set of the output, or goes on with the one there.
func (m *merger) beginSet(set *source) error {
	s, err := set.shape()
	if err != nil {
		return err
	}
	m.out.sets[set.Header.Name], err = m.out.addSet(s)
	return err
}

// The fields of attribute sets that say which entries attributes belong to.
const (
	rangeStart = "_rangeStart"
	rangeLen   = "_rangeLen"
)

// addTo appends the entries of a source to an output. If shift is not 0 it is an
// attribute set, whose ranges move by it.
func (m *merger) addTo(ctx context.Context, o *output, src *source, shift uint64, progress func(entries int64)) error {
	w, err := m.connect(o, src, shift)
	if err != nil {
		return err
	}
	return w.copyRange(ctx, rntuple.EntryRange{End: src.Source.Entries}, progress)
}

// connect returns the wiring from a source to an output; see addTo.
func (m *merger) connect(o *output, src *source, shift uint64) (*wiring, error) {
	fit := compare(o.shape.Schema, src.schema(), m.set.convert)
	if len(fit.problems) > 0 {
		return nil, fmt.Errorf("%s: changed meanwhile: %v", src.name, fit.problems[0])
	}
	if m.set.mode == Union && o == m.out {
		if err := o.extend(fit.extra); err != nil {
			return nil, fmt.Errorf("%s: %w", src.name, err)
		}
		if len(fit.extra) > 0 {
			fit = compare(o.shape.Schema, src.schema(), m.set.convert)
		}
	}
	if err := o.shape.addTypes(src.Source.Schema.ExtraTypes); err != nil {
		return nil, fmt.Errorf("%s: %w", src.name, err)
	}
	ports := src.ports(fit.from)
	if shift != 0 {
		for _, f := range o.shape.Fields {
			if p, ok := ports[f.ID]; ok && f.Name == rangeStart && f.Shape == schema.Scalar {
				p.shift = shift
				ports[f.ID] = p
			}
		}
	}
	return o.wire(ports, src), nil
}
