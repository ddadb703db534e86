package rntbeam

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
	"github.com/go-rntuple/go-rntuple/value"
)

// An Input is a file to read, or a part of it: the elements of the splittable DoFn.
type Input struct {
	Path  string
	First int64           // number of the file's first entry in the data set, see ReadOptions.Numbered
	Part  *workunits.Part // the entries to read, if not all
	File  *workunits.File // version of the file in the plan, if any
}

// A Restriction is a range of entries of a file that consists of blocks, each of which is read as a
// unit.
type Restriction struct {
	File  workunits.File // version of the file when the restriction was created
	First int64
	Ends  []int64 // of the blocks
	Costs []int64 // of the blocks: stored bytes of the columns that are read
}

// bounds returns the entries of a block.
func (r Restriction) bounds(block int) rntuple.EntryRange {
	if block == 0 {
		return rntuple.EntryRange{First: r.First, End: r.Ends[0]}
	}
	return rntuple.EntryRange{First: r.Ends[block-1], End: r.Ends[block]}
}

// part returns the restriction of some of the blocks.
func (r Restriction) part(first, end int) Restriction {
	part := Restriction{File: r.File, First: r.First, Ends: r.Ends[first:end], Costs: r.Costs[first:end]}
	if first > 0 {
		part.First = r.Ends[first-1]
	}
	return part
}

// cost returns the bytes of some of the blocks.
func (r Restriction) cost(first, end int) (total int64) {
	for _, c := range r.Costs[first:end] {
		total += c
	}
	return total
}

// restrict returns the restriction of all entries of an input whose clusters are known.
func restrict(in Input, file workunits.File, clusters []workunits.Cluster, block int64) (Restriction, error) {
	if in.File != nil && *in.File != file {
		return Restriction{}, fmt.Errorf("%w: it is %+v, and was %+v", workunits.ErrChanged, file, *in.File)
	}
	r := Restriction{File: file}
	joined := int64(0) // cost of the clusters in the last block
	for _, c := range clusters {
		if in.Part != nil {
			c.First, c.End = max(c.First, in.Part.First), min(c.End, in.Part.End)
		}
		if c.First >= c.End {
			continue
		}
		last := len(r.Ends) - 1
		switch {
		case last < 0:
			r.First = c.First
			fallthrough
		case joined+c.Cost > block:
			r.Ends, r.Costs = append(r.Ends, c.End), append(r.Costs, c.Cost)
			joined = c.Cost
		default:
			r.Ends[last] = c.End
			r.Costs[last] += c.Cost
			joined += c.Cost
		}
	}
	return r, nil
}

// A reading is a file that is open.
type reading interface {
	// check returns an error that wraps workunits.ErrChanged unless the file is what it was.
	check(known workunits.File) error
	// clusters returns the file and its clusters.
	clusters(ctx context.Context) (workunits.File, []workunits.Cluster, error)
	// entries calls use with a source in which the entries e of the file begin at first.
	entries(ctx context.Context, e rntuple.EntryRange, use func(s rntuple.Source, first int64) error) error
	Close() error
}

// open opens a file from which values of type t are read.
func (o *ReadOptions) open(ctx context.Context, path string, t reflect.Type) (reading, error) {
	if o.Format != "" {
		return openForeign(ctx, o, path, t)
	}
	r, err := rntuple.Open(path, o.Name, &rntuple.ReadOptions{Context: ctx})
	if err != nil {
		return nil, err
	}
	return &native{r, o, path, t}, nil
}

// native is a file with an RNTuple.
type native struct {
	*rntuple.Reader
	o    *ReadOptions
	path string
	t    reflect.Type
}

func (n *native) check(known workunits.File) error { return known.Check(n.Reader) }

func (n *native) clusters(ctx context.Context) (workunits.File, []workunits.Cluster, error) {
	fields, err := n.o.wanted(n.Reader, n.t)
	if err != nil {
		return workunits.File{}, nil, err
	}
	return workunits.Clusters(ctx, n.Reader, n.path, fields)
}

func (n *native) entries(_ context.Context, e rntuple.EntryRange, use func(rntuple.Source, int64) error) error {
	return use(n.Reader, e.First)
}

// wanted returns patterns of the fields that are read, or nil for all.
func (o *ReadOptions) wanted(r *rntuple.Reader, t reflect.Type) (paths []string, err error) {
	paths = o.Fields
	if isEntry(t) {
		for _, name := range members(t) {
			f, err := rntuple.FieldOf(r, name)
			if err == nil { // else reading says what is wrong, unless the field is optional
				paths = append(paths, f.Path())
			}
		}
	}
	if len(paths) == 0 || o.Where == "" {
		return paths, nil
	}
	e, err := expression.Parse(o.Where)
	if err != nil {
		return nil, err
	}
	p, err := expression.Compile(r, e)
	if err != nil {
		return nil, err
	}
	return append(paths[:len(paths):len(paths)], p.Fields()...), nil
}

// isEntry reports whether the fields that are read are those of a struct type.
func isEntry(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[value.Record]() && t != reflect.TypeFor[Batch]()
}

// members returns the paths that the fields of a struct type name.
func members(t reflect.Type) (paths []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("rntuple")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct:
			paths = append(paths, members(f.Type)...)
		case !f.IsExported():
		case name != "":
			paths = append(paths, name)
		default:
			paths = append(paths, f.Name)
		}
	}
	return paths
}

// in calls use with a source that has those of the entries e of a file for which the condition
// holds, from first to end.
func (o *ReadOptions) in(ctx context.Context, f reading, e rntuple.EntryRange,
	use func(s rntuple.Source, first, end int64) error) error {
	return f.entries(ctx, e, func(s rntuple.Source, first int64) error {
		end := first + e.Len()
		if o.Where == "" {
			return use(s, first, end)
		}
		condition, err := expression.Parse(o.Where)
		if err != nil {
			return err
		}
		part, err := rntuple.Select(s, rntuple.EntryRange{First: first, End: end})
		if err != nil {
			return err
		}
		chosen, err := rntuple.Where(part, condition.Condition(), nil)
		if err != nil {
			return err
		}
		return use(chosen, 0, chosen.NumEntries())
	})
}

// values yields the entries of a source from first to end.
func values[T any](s rntuple.Source, fields []string, first, end int64) iter.Seq2[*T, error] {
	if reflect.TypeFor[T]() != reflect.TypeFor[value.Record]() {
		return rntuple.EntriesIn[T](s, rntuple.EntryRange{First: first, End: end}, nil)
	}
	return func(yield func(*T, error) bool) {
		v, err := rntuple.RecordsOf(s, fields...)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, record := range v.Range(rntuple.EntryRange{First: first, End: end}) {
			if !yield(any(&record).(*T), nil) {
				return
			}
		}
		if err := v.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// expand returns the files that a pattern stands for, in alphabetical order. URLs stand for
// themselves.
func expand(pattern string) ([]string, error) {
	if remote.IsURL(pattern) {
		return []string{pattern}, nil
	}
	if _, err := os.Lstat(pattern); err == nil {
		return []string{pattern}, nil
	}
	paths, err := filepath.Glob(pattern)
	if err == nil && len(paths) == 0 {
		err = errors.New("no such file")
	}
	if err != nil {
		return nil, failed("reading", pattern, err)
	}
	return paths, nil
}
