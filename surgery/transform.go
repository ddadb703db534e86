package surgery

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// transform makes a file of all entries of one input. What edit does to the schema
// must leave the fields and their numbers alone.
func transform(ctx context.Context, out string, in Input, set *settings, edit func(*source, *shape) error) (*Report, error) {
	if err := notAmong(out, []Input{in}); err != nil {
		return nil, err
	}
	src, err := openSource(ctx, in, set.read...)
	if err != nil {
		return nil, err
	}
	defer src.close()
	s, err := src.shape()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.name, err)
	}
	if err := edit(src, s); err != nil {
		return nil, fmt.Errorf("%s: %w", src.name, err)
	}
	if set.name != "" {
		s.header.Name = set.name
	}
	if err := set.compressAs(ctx, src); err != nil {
		return nil, err
	}
	return makeFile(out, set, []Input{in}, func(f *ntuple.File, report *Report, progress func(part float64)) (*output, error) {
		o, err := newOutput(f, s, set, report)
		if err != nil {
			return nil, err
		}
		if len(s.Columns) == len(src.Source.Schema.Columns) {
			o.keepFirst(src)
		}
		o.Features = slices.Clone(src.Footer.Features)
		report.InputEntries = src.Source.Entries
		if err := o.wire(alike(o.shape.Schema, src), src).copyAll(ctx, progress); err != nil {
			return o, err
		}
		return o, o.copySets(ctx, src, "")
	})
}

// compressAs has new pages be compressed as the first ones of a source, unless the
// settings say else.
func (set *settings) compressAs(ctx context.Context, src *source) error {
	c := compress.Settings(505)
	if set.compression != nil {
		c = *set.compression
	} else if first, ok, err := src.compression(ctx); err != nil {
		return err
	} else if ok {
		c = first
	}
	set.write = append([]rntuple.WriteOption{rntuple.Compression(c)}, set.write...)
	set.write = append(set.write, rntuple.WriteContext(ctx))
	return nil
}

// create creates a file that is written as the settings say.
func (set *settings) create(path string) (*ntuple.File, error) {
	o, err := ntuple.NewWriteOptions(set.write)
	if err != nil {
		return nil, err
	}
	return ntuple.CreateFile(path, o)
}

// update opens a file to be added to.
func (set *settings) update(path string) (*ntuple.File, error) {
	o, err := ntuple.NewWriteOptions(set.write)
	if err != nil {
		return nil, err
	}
	return ntuple.UpdateFile(path, o)
}

// makeFile makes a file with the output that fill begins and fills. It tells
// progress as parts of the inputs.
func makeFile(path string, set *settings, inputs []Input, fill func(*ntuple.File, *Report, func(part float64)) (*output, error)) (*Report, error) {
	total := int64(0)
	for _, in := range inputs {
		info, err := os.Stat(in.Path)
		if err != nil {
			return nil, err
		}
		total += info.Size()
	}
	f, err := set.create(path)
	if err != nil {
		return nil, err
	}
	report := &Report{Inputs: len(inputs)}
	o, err := fill(f, report, func(part float64) {
		if set.progress != nil {
			set.progress(int64(part*float64(total)), total)
		}
	})
	if err == nil {
		err = o.finish()
	}
	if err != nil {
		if o != nil {
			o.wait() // the sources are going to be closed
		}
		f.Abort()
		return nil, err
	}
	return report, f.Close()
}

// alike returns the ports of an output whose fields have the numbers of those of
// the source.
func alike(s *schema.Schema, src *source) map[schema.FieldID]port {
	from := map[schema.FieldID]*schema.Field{}
	var pair func(fields, others []*schema.Field)
	pair = func(fields, others []*schema.Field) {
		for i, f := range fields {
			from[f.ID] = others[i]
			pair(f.Children, others[i].Children)
		}
	}
	pair(s.Fields, src.Source.Schema.Fields)
	return src.ports(from)
}

// copyAll appends all entries.
func (w *wiring) copyAll(ctx context.Context, progress func(part float64)) error {
	entries := w.sources[0].Source.Entries
	for first := int64(0); first < entries; {
		c, err := w.sources[0].Source.Find(ctx, first)
		if err != nil {
			return fmt.Errorf("%s: %w", w.sources[0].name, err)
		}
		if err := w.copy(ctx, first, c.End); err != nil {
			return err
		}
		first = c.End
		progress(float64(first) / float64(entries))
	}
	return nil
}

// copySets adds the attribute sets of a source, with a prefix to their names.
func (o *output) copySets(ctx context.Context, src *source, prefix string) error {
	if o.set.dropAttributes {
		return nil
	}
	for _, a := range src.Footer.AttributeSets {
		if err := o.copySet(ctx, src, a.Name, prefix+a.Name); err != nil {
			return err
		}
	}
	return nil
}

func (o *output) copySet(ctx context.Context, src *source, name, as string) error {
	set, err := src.set(name)
	if err != nil {
		return err
	}
	defer set.ahead.Stop()
	s, err := set.shape()
	if err != nil {
		return fmt.Errorf("%s: %w", set.name, err)
	}
	s.header.Name = as
	if o.sets[as], err = o.addSet(s); err != nil {
		return err
	}
	return o.sets[as].wire(alike(s.Schema, set), set).copyAll(ctx, func(float64) {})
}
