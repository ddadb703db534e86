package surgery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/entrance"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/schema"
)

// execute does jobs one after the other in the file at path, which open opens: before the
// inputs of all jobs are checked if the first one is in place, so that they do not
// change any more, otherwise after that. If anything fails, the file stays as it was.
//
// The error is an *IncompatibleError if inputs are incompatible.
func execute(ctx context.Context, path string, open opener, jobs ...*job) (reports []*Report, err error) {
	if err := checkInputs(path, jobs); err != nil {
		return nil, err
	}
	defer share(jobs)()
	var f *ntuple.File
	finished := false // after an error, or a panic of a function that a job has
	defer func() {
		if !finished && f != nil {
			f.Abort()
		}
	}()
	if jobs[0].inPlace {
		write, err := jobs[0].writeOptions(ctx)
		if err != nil {
			return nil, err
		}
		if f, err = open(path, write); err != nil {
			return nil, err
		}
	}
	meter, taken := newMeter(jobs), takenBy(jobs)
	runs := make([]*run, len(jobs))
	reports = make([]*Report, len(jobs))
	for i, j := range jobs {
		runs[i] = newRun(j, meter, taken)
		reports[i] = &runs[i].report
		if err := runs[i].plan(ctx); err != nil {
			return nil, err
		}
	}
	if f == nil {
		if f, err = open(path, runs[0].write); err != nil {
			return nil, err
		}
	}
	for _, r := range runs {
		if err := r.do(ctx, f); err != nil {
			if r.out != nil {
				r.out.fail(err)
			}
			return nil, err
		}
	}
	err = f.Close()
	finished = err == nil
	return reports, err
}

// share has the jobs open each file that is far away once, though they are planned first, until the
// function that it returns is called.
func share(jobs []*job) func() {
	pool := remote.NewPool(64)
	for _, j := range jobs {
		if read := *j.read; read.Remote.Pool == nil {
			read.Remote.Pool = pool
			j.read = &read
		}
	}
	return func() { pool.Close() }
}

// checkInputs makes sure that there are inputs, and that the file at out is none.
func checkInputs(out string, jobs []*job) error {
	info, statErr := os.Stat(out)
	n := 0
	for _, j := range jobs {
		inputs := j.inputs
		if j.inPlace {
			inputs = inputs[1:]
		}
		n += len(inputs)
		for _, in := range inputs {
			other, err := os.Stat(in.Path)
			if err == nil && statErr == nil && os.SameFile(info, other) || in.Path == out && remote.IsURL(out) {
				return fmt.Errorf("%s is an input, and would be overwritten", remote.Redact(out))
			}
		}
	}
	if n == 0 {
		return errors.New("there are no inputs")
	}
	return nil
}

// A run does a job, step by step. A step has one input, or all if they lie side by
// side. Only its inputs are open during it, and in place the first one.
type run struct {
	job
	meter *meter
	taken map[Input]bool // by all jobs
	steps [][]Input

	left   map[Object]bool // the report lists them; without the file
	listed map[string]bool // files whose objects have been looked at

	// Made by plan.
	fields []*schema.FieldDocument // that are defined
	shape  *shape
	sets   map[string]*shape // of the attribute sets, by name
	bytes  []int64           // of the inputs of each step
	write  *ntuple.WriteOptions

	report Report
	out    *output
}

func newRun(j *job, m *meter, taken map[Input]bool) *run {
	r := &run{
		job: *j, meter: m, taken: taken, left: map[Object]bool{}, listed: map[string]bool{},
		sets: map[string]*shape{}, report: Report{Inputs: len(j.inputs)},
	}
	r.groupPages = cmp.Or(r.groupPages, maxGroupPages)
	if j.sideBySide {
		r.steps = [][]Input{j.inputs}
	} else {
		r.steps = slices.Collect(slices.Chunk(j.inputs, 1))
	}
	return r
}

// prefixOf returns what comes before the names of the i-th source of a step.
func (r *run) prefixOf(i int) string {
	if i < len(r.prefixes) {
		return r.prefixes[i]
	}
	return ""
}

// with opens the inputs of a step for f. If f fails, nothing is done in the
// background any more when they are closed.
func (r *run) with(ctx context.Context, n int, f func([]*source) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	var sources []*source
	finished := false
	defer func() {
		if !finished && err == nil {
			err = errors.New("a function has panicked")
		}
		if err != nil && r.out != nil {
			r.out.fail(err)
		}
		for _, src := range sources {
			err = cmp.Or(err, src.close())
		}
	}()
	for i, in := range r.steps[n] {
		src, err := openSource(ctx, n+i, in, r.read)
		if err != nil {
			return err
		}
		sources = append(sources, src)
		if err := src.prune(r.Keep, r.Drop, n == 0); err != nil {
			return err
		}
	}
	err = f(sources)
	finished = true
	return err
}

// plan checks all inputs.
func (r *run) plan(ctx context.Context) error {
	var problems []Problem
	for n := range r.steps {
		err := r.with(ctx, n, func(sources []*source) error {
			more, err := r.planStep(ctx, n, sources)
			problems = append(problems, more...)
			return err
		})
		if err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return &IncompatibleError{problems}
	}
	var err error
	r.write, err = r.writeOptions(ctx)
	return err
}

// planStep checks the inputs of a step.
func (r *run) planStep(ctx context.Context, n int, sources []*source) ([]Problem, error) {
	for _, src := range sources {
		if err := r.compressAs(ctx, src); err != nil {
			return nil, err
		}
	}
	r.measure(n, sources)
	if n > 0 || !r.inPlace {
		r.leaveBehind(ctx, n, sources)
	}
	s, err := r.selection(ctx, n, sources[0])
	if err != nil {
		return nil, err
	}
	if n == 0 {
		r.fields = s.fields
	}
	if err := r.checkDefined(sources[0]); err != nil {
		return nil, err
	}
	problems, err := r.check(n, sources)
	return append(problems, r.differs(sources[0], s.fields)...), err
}

// compressAs compresses the output as the first pages of a source are, unless it is
// known already how to compress it.
func (c *config) compressAs(ctx context.Context, src *source) error {
	if c.compression != nil {
		return nil
	}
	s, ok, err := src.Compression(ctx)
	if err != nil {
		return src.fail(err)
	}
	if ok {
		c.compression = &s
	}
	return nil
}

// writeOptions returns the options for the output.
func (c *config) writeOptions(ctx context.Context) (*ntuple.WriteOptions, error) {
	options := c.Write
	if options.Compression == 0 && c.compression != nil { // the inputs may have no pages
		options.Compression = cmp.Or(*c.compression, compress.None)
	}
	write, err := entrance.WriteOptions(&options)
	if err == nil {
		write.Context = ctx
	}
	return write, err
}

// check compares the inputs of a step with those before it.
func (r *run) check(n int, sources []*source) (problems []Problem, err error) {
	join := func(s *shape, src *source, mode Mode) error {
		m := compare(s.inherited(), src.schema(), "", r.ConvertTypes)
		m.apply(mode)
		for _, p := range m.problems {
			p.Input = src.name
			problems = append(problems, p)
		}
		if mode == Union && len(m.problems) == 0 {
			return s.extend(m.extra, "")
		}
		for _, f := range m.extra {
			if !slices.Contains(r.report.Omitted, f.Name) {
				r.report.Omitted = append(r.report.Omitted, f.Name)
			}
		}
		return nil
	}
	if r.sideBySide {
		if problems := r.clashes(sources); len(problems) > 0 {
			return problems, nil
		}
	}
	if n == 0 {
		r.shape, err = r.newShape(sources)
	} else {
		err = sources[0].fail(join(r.shape, sources[0], r.Mode))
	}
	if err != nil {
		return nil, err
	}
	err = r.eachSet(sources, func(set *source, name string) error {
		if s := r.sets[name]; s != nil {
			return join(s, set, Strict)
		}
		s, err := set.shape()
		r.sets[name] = s
		return err
	})
	return problems, err
}

// newShape returns the schema of an output that begins with the sources.
func (r *run) newShape(sources []*source) (s *shape, err error) {
	if r.sideBySide {
		s, err = r.besideShape(sources)
	} else {
		s, err = sources[0].shape()
	}
	if err != nil {
		return nil, err
	}
	if r.edit != nil {
		if err := r.edit(s); err != nil {
			return nil, sources[0].fail(err)
		}
	}
	if r.Name != "" {
		s.Header.Name = r.Name
	}
	if len(r.fields) > 0 {
		err = s.define(r.fields, r.write == nil || r.write.Pages.Compression.Level() > 0)
	}
	return s, err
}

// eachSet calls f for the attribute sets of sources that are to be kept, with the
// names that they get.
func (r *run) eachSet(sources []*source, f func(set *source, name string) error) error {
	if r.DropAttributes {
		return nil
	}
	for i, src := range sources {
		for _, a := range src.Footer.AttributeSets {
			if zone.IsSet(a) {
				continue // see keepZones
			}
			set, err := src.set(a.Name)
			if err == nil {
				err = f(set, r.prefixOf(i)+a.Name)
				set.ahead.Stop()
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// do makes the output in a file.
func (r *run) do(ctx context.Context, f *ntuple.File) error {
	if !r.inPlace {
		return r.fill(ctx, f, 0)
	}
	return r.with(ctx, 0, func(sources []*source) error {
		w, err := f.Resume(sources[0].Reader, r.write)
		if err != nil {
			return err
		}
		if r.out, err = r.newOutput(w, nil); err != nil {
			return err
		}
		r.recordZones()
		own := sources[0].Source.Schema.Columns
		err = r.keepZones(ctx, sources, func(f *schema.Field) origin {
			return origin{src: sources[0], field: own[f.Columns[0][0].ID].Owner}
		})
		if err != nil {
			return err
		}
		return r.fill(ctx, f, 1)
	})
}

// fill does the steps from the given one on.
func (r *run) fill(ctx context.Context, f *ntuple.File, first int) error {
	for n := first; n < len(r.steps); n++ {
		err := r.with(ctx, n, func(sources []*source) error {
			if n == 0 {
				if err := r.begin(f, sources); err != nil {
					return err
				}
			}
			return r.add(ctx, n, sources)
		})
		if err != nil {
			return err
		}
	}
	return r.out.finish()
}

// begin begins the output. Its name may lead through directories.
func (r *run) begin(f *ntuple.File, sources []*source) error {
	s, err := r.newShape(sources)
	if err != nil {
		return err
	}
	dir, name := path.Split(s.Header.Name)
	s.Header.Name, s.Header.Writer = name, ntuple.WriterName()
	w, err := f.Create(path.Join(dir, name), s.Header, r.write)
	if err != nil {
		return err
	}
	if r.out, err = r.newOutput(w, s); err != nil {
		return err
	}
	r.recordZones()
	if r.sideBySide {
		return nil
	}
	first := sources[0]
	if first.pruned != nil {
		r.report.Dropped = first.pruned.dropped
	}
	if r.choose == nil && len(s.Columns) == len(first.schema().Columns) {
		r.out.keepFirst(first)
	}
	r.out.Features = slices.Clone(first.Footer.Features)
	return nil
}

// add appends the entries of a step and its attribute sets.
func (r *run) add(ctx context.Context, n int, sources []*source) error {
	first, entries := r.out.Sink.Entries(), sources[0].Source.Entries
	m, err := r.mapping(n, sources)
	if err != nil {
		return err
	}
	if err := r.keepZones(ctx, sources, func(f *schema.Field) origin { return m.origins[f.ID] }); err != nil {
		return err
	}
	s, err := r.selection(ctx, n, sources[0])
	if err != nil {
		return err
	}
	if s.begin != nil {
		if m.values, err = s.begin(r.out.outlets, r.out.shape.definedFields()); err != nil {
			return sources[0].fail(err)
		}
		defer m.values.stop()
	}
	m.progress = r.meter.within(s.within, r.bytes[n])
	taken, err := m.copySelection(ctx, s)
	if err != nil {
		return err
	}
	for _, src := range sources {
		r.report.InputEntries += src.Source.Entries
	}
	err = r.eachSet(sources, func(set *source, name string) error {
		return r.addSet(ctx, set, name, taken, entries, first)
	})
	if err != nil {
		return err
	}
	if n == 0 {
		r.out.settle()
	}
	if err := r.out.wait(); err != nil {
		return err
	}
	r.meter.end(r.bytes[n])
	return nil
}
