package rntuple

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"sort"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An Input is one of the RNTuples that a Chain concatenates: the RNTuple Name in the file at Path,
// unless Open or Source is set.
type Input struct {
	Path string
	Name string // as for the function Open

	// Open, if set, opens the file, possibly several times; see ReadOptions.MaxOpen. It must return
	// a reader that is safe for concurrent use, and the size of the file in bytes. The Chain closes
	// the reader if it is an io.Closer. Path is then used only in errors.
	Open func(context.Context) (io.ReaderAt, int64, error)
	// Entries, if not the zero range, selects the entries of the file that belong to the Chain.
	Entries EntryRange
	// Check, if set, is called each time the file has been opened. Opening fails with its error.
	Check func(*Reader) error
	// Source, if set, is the input itself. The Chain does not close it.
	Source Source
}

// A Chain is a Source with the entries of several inputs, one after the other. It opens the first
// input immediately and the others on demand, and limits the number of open inputs; see
// ReadOptions.MaxOpen. It is safe for concurrent use.
//
// The first input defines the schema: all inputs must have the fields that a view reads. Fields are
// matched by name; if their types differ, each must be compatible with the Go type. If a field of
// an input is missing or incompatible, reading entries of this input returns a *SchemaError; with
// ReadOptions.AllowMissing, a missing field reads as zero, or as nil in dynamic values. Fields read
// as any must have the same type in all inputs.
//
// A file that grows while the Chain is open contributes the entries that it had when the Chain
// first opened it.
//
// Errors about a single input are of type *InputError. Entry numbers in the errors it wraps are
// relative to the input.
type Chain struct {
	*chain
	ctx context.Context
}

// A chain is the part of a Chain that is independent of its context.
type chain struct {
	inputs  []Input
	options *ReadOptions
	config  *ntuple.ReadOptions
	given   []*opened // by input; nil for those that are not Sources
	model   fields    // fields of the first input
	remote  bool      // some inputs are remote

	mu     sync.Mutex
	change sync.Cond       // signals that an input was opened, released or closed
	open   map[int]*opened // by input
	clock  int64           // counts uses of inputs
	counts []int64         // number of entries by input; -1 if not known yet
	sums   []uint64        // checksum of the header, by input that is a file
	ends   []int64         // number of entries up to the end of each of the first inputs
	closed bool
}

// opened is an input that is open, or being opened.
type opened struct {
	Source         // nil while it is being opened
	reader *Reader // that the chain has opened, and closes
	users  int     // reads in progress
	used   int64   // clock when the last one began
}

// fields is the part of its first input that a chain needs even while the input is closed.
type fields interface {
	field(path string) (*schema.Field, error)
	names() []string
}

// An InputError reports which input of a Chain, or of an operation of package surgery, an error
// occurred in.
type InputError struct {
	Index int // number of the input, from 0
	Path  string
	Err   error
}

// Error returns the path or the number of the input, and Err.
func (e *InputError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("input %d of the chain: %v", e.Index, e.Err)
	}
	return fmt.Sprintf("%s: %v", remote.Redact(e.Path), e.Err)
}

// Unwrap returns Err.
func (e *InputError) Unwrap() error { return e.Err }

// OpenChain returns a Chain of the RNTuples with the given name in the files at paths. The options
// apply to each of them. The caller must close the Chain.
func OpenChain(name string, paths []string, o *ReadOptions) (*Chain, error) {
	inputs := make([]Input, len(paths))
	for i, path := range paths {
		inputs[i] = Input{Path: path, Name: name}
	}
	return NewChain(inputs, o)
}

// NewChain returns a Chain of the given inputs. The options apply to inputs that are files. The
// caller must close the Chain.
func NewChain(inputs []Input, o *ReadOptions) (*Chain, error) {
	config, err := o.base()
	if err != nil {
		return nil, err
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("a chain of no inputs")
	}
	far := slices.ContainsFunc(inputs, func(i Input) bool {
		return i.Source == nil && i.Open == nil &&
			remote.IsURL(i.Path)
	})
	config.Workers = cmp.Or(config.Workers, ntuple.DefaultWorkers(far))
	if config.MaxOpen == 0 {
		config.MaxOpen = max(16, 2*runtime.GOMAXPROCS(0))
	}
	c := &chain{inputs: slices.Clone(inputs), options: o.with(config.Context), config: config, remote: far,
		open: map[int]*opened{}}
	c.change.L = &c.mu
	for _, input := range inputs {
		var o *opened
		if input.Source != nil {
			o = &opened{Source: input.Source}
		}
		c.given, c.counts = append(c.given, o), append(c.counts, -1)
		c.sums = append(c.sums, 0)
	}
	err = c.with(config.Context, 0, func(o *opened) error {
		c.model = o.Source
		if o.reader != nil {
			c.model = fieldsOf{o.reader.Schema()} // outlives the reader
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Chain{c, config.Context}, nil
}

// Close closes the inputs that the Chain has opened. It waits for reads in progress; later reads
// fail.
func (c *Chain) Close() error { return c.close() }

func (c *chain) close() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for len(c.open) > 0 {
		if !c.evict(&err) {
			c.change.Wait()
		}
	}
	return err
}

// WithContext returns a Chain of the same inputs whose methods and views return the context's error
// when it is done. Closing either Chain closes both.
func (c *Chain) WithContext(ctx context.Context) *Chain { return &Chain{c.chain, ctx} }

// NumEntries returns the total number of entries of all inputs. The first call opens all inputs
// that have not been opened yet, several concurrently.
func (c *Chain) NumEntries() (int64, error) { return c.count(c.ctx) }

// Entries returns the range of entries that each input contributes. Work is best partitioned at
// these boundaries. It opens inputs like NumEntries.
func (c *Chain) Entries() ([]EntryRange, error) {
	if _, err := c.count(c.ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ranges := make([]EntryRange, len(c.ends))
	first := int64(0)
	for i, end := range c.ends {
		ranges[i] = EntryRange{first, end}
		first = end
	}
	return ranges, nil
}

func (c *chain) count(ctx context.Context) (int64, error) {
	err := parallel.Do(min(c.config.Workers, c.config.MaxOpen), len(c.inputs),
		func(i int) error { return c.countOf(ctx, i) })
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err = c.sum()
	return c.ends[len(c.ends)-1], err
}

// ranges opens each input, several at a time.
func (c *chain) ranges(ctx context.Context) ([]EntryRange, error) {
	inputs := make([][]EntryRange, len(c.inputs))
	err := parallel.Do(min(c.config.Workers, c.config.MaxOpen), len(inputs), func(i int) error {
		return c.with(ctx, i, func(o *opened) (err error) {
			inputs[i], err = o.ranges(ctx)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if _, err := c.count(ctx); err != nil {
		return nil, err
	}
	var all []EntryRange
	first := int64(0)
	for i, ranges := range inputs {
		for _, r := range ranges {
			if r.First < c.counts[i] { // else the file has grown
				all = append(all, EntryRange{first + r.First, first + min(r.End, c.counts[i])})
			}
		}
		first += c.counts[i]
	}
	return all, nil
}

// countOf determines the number of entries of an input.
func (c *chain) countOf(ctx context.Context, i int) error {
	c.mu.Lock()
	known := c.counts[i] >= 0
	c.mu.Unlock()
	if known {
		return nil
	}
	return c.with(ctx, i, func(o *opened) error {
		n, err := o.count(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil && c.counts[i] < 0 {
			c.counts[i] = n
		}
		return err
	})
}

// sum extends c.ends as far as the counts are known.
func (c *chain) sum() error {
	for i := len(c.ends); i < len(c.inputs) && c.counts[i] >= 0; i++ {
		before := int64(0)
		if i > 0 {
			before = c.ends[i-1]
		}
		if c.counts[i] > math.MaxInt64-before {
			return fmt.Errorf("the chain has more than %d entries", int64(math.MaxInt64))
		}
		c.ends = append(c.ends, before+c.counts[i])
	}
	return nil
}

// find returns the input that has an entry, and the range of entries it contributes. It is
// not ok if there is no such input.
func (c *chain) find(ctx context.Context, entry int64) (i int, entries EntryRange, ok bool, err error) {
	for {
		c.mu.Lock()
		err := c.sum()
		known := len(c.ends)
		if i = sort.Search(known, func(i int) bool { return c.ends[i] > entry }); i < known {
			entries.End = c.ends[i]
			entries.First = entries.End - c.counts[i]
		}
		c.mu.Unlock()
		switch {
		case err != nil, i < known, known == len(c.inputs):
			return i, entries, i < known, err
		}
		if err := c.countOf(ctx, known); err != nil {
			return 0, entries, false, err
		}
	}
}

// with calls use with an input, which stays open during the call. It names the input in
// errors.
func (c *chain) with(ctx context.Context, i int, use func(*opened) error) error {
	o, err := c.given[i], error(nil)
	if o == nil {
		if o, err = c.acquire(ctx, i); err == nil {
			defer c.release(o)
		}
	}
	if err == nil {
		err = use(o)
	}
	if err != nil {
		return &InputError{Index: i, Path: c.inputs[i].Path, Err: err}
	}
	return nil
}

// acquire returns an input, which it opens if necessary. The input stays open until it is
// released.
func (c *chain) acquire(ctx context.Context, i int) (*opened, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		o := c.open[i]
		switch {
		case c.closed:
			return nil, os.ErrClosed
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case o != nil && o.Source != nil:
			c.clock++
			o.users, o.used = o.users+1, c.clock
			return o, nil
		case o == nil && (len(c.open) < c.config.MaxOpen || c.evict(new(error))): // an error of closing does not matter here
			return c.openInput(ctx, i)
		}
		stop := context.AfterFunc(ctx, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.change.Broadcast()
		})
		c.change.Wait()
		stop()
	}
}

// expect opens an input that will be read soon in the background, if inputs are remote.
func (c *chain) expect(i int) {
	if !c.remote || i >= len(c.inputs) || c.given[i] != nil || c.config.MaxOpen < 2 {
		return
	}
	c.mu.Lock()
	known := c.open[i] != nil
	c.mu.Unlock()
	if !known {
		go func() {
			if o, err := c.acquire(c.config.Context, i); err == nil { // if not, the reader meets the error
				c.release(o)
			}
		}()
	}
}

func (c *chain) release(o *opened) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.users--; o.users == 0 {
		c.change.Broadcast()
	}
}

// openInput opens an input for its first user. It unlocks the chain meanwhile.
func (c *chain) openInput(ctx context.Context, i int) (*opened, error) {
	c.clock++
	o := &opened{users: 1, used: c.clock}
	c.open[i] = o
	before, sum := c.counts[i], c.sums[i]
	c.mu.Unlock()
	r, source, err := c.openReader(ctx, c.inputs[i])
	n := int64(0)
	if err == nil {
		n = source.bound()
	}
	if err == nil && before >= 0 {
		switch { // a file may grow, but the chain keeps its entries
		case n < before:
			err = fmt.Errorf("the file has changed: it has %d entries, it had %d", n, before)
		case r.ntuple.Source.HeaderChecksum() != sum:
			err = fmt.Errorf("the file has changed: %w", ErrReplaced)
		}
		if err != nil {
			r.Close()
		}
	}
	c.mu.Lock()
	defer c.change.Broadcast()
	if err != nil {
		delete(c.open, i)
		return nil, err
	}
	o.reader = r
	if o.Source = source; before < 0 {
		c.counts[i], c.sums[i] = n, r.ntuple.Source.HeaderChecksum()
	}
	return o, nil
}

// openReader opens a file, and returns the source of the entries that the chain has of it.
func (c *chain) openReader(ctx context.Context, input Input) (r *Reader, source Source, err error) {
	if input.Open == nil {
		r, err = Open(input.Path, input.Name, c.options)
	} else {
		r, err = openWith(ctx, input, c.options)
	}
	if err != nil {
		return nil, nil, err
	}
	if input.Check != nil {
		err = input.Check(r)
	}
	if source = r; err == nil && input.Entries != (EntryRange{}) {
		source, err = Select(r, input.Entries)
	}
	if err != nil {
		r.Close()
	}
	return r, source, err
}

// openWith opens a file by the function that an input has for that.
func openWith(ctx context.Context, input Input, o *ReadOptions) (*Reader, error) {
	ra, size, err := input.Open(ctx)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(ra, size, input.Name, o)
	closer, ok := ra.(io.Closer)
	switch {
	case ok && err != nil:
		closer.Close()
	case ok:
		r.ntuple.CloseWith(closer)
	}
	return r, err
}

// evict closes the least recently used input and adds the error of that to err. It reports
// false if all inputs are in use.
func (c *chain) evict(err *error) bool {
	oldest := -1
	for i, o := range c.open {
		if o.users == 0 && (oldest < 0 || o.used < c.open[oldest].used) {
			oldest = i
		}
	}
	if oldest < 0 {
		return false
	}
	*err = errors.Join(*err, c.open[oldest].reader.Close())
	delete(c.open, oldest)
	return true
}

// fieldsOf are the fields of a schema.
type fieldsOf struct{ *schema.Schema }

func (m fieldsOf) field(path string) (*schema.Field, error) {
	chain, err := m.Lookup(path)
	if err != nil {
		return nil, err
	}
	return chain[len(chain)-1], nil
}

func (m fieldsOf) names() (all []string) {
	for _, f := range m.Fields {
		all = append(all, f.Name)
	}
	return all
}

func (c *Chain) field(path string) (*schema.Field, error) { return c.model.field(path) }
func (c *Chain) names() []string                          { return c.model.names() }
func (c *Chain) context() context.Context                 { return c.ctx }
func (c *Chain) workers() int                             { return c.config.Workers }
func (c *Chain) far() bool                                { return c.remote }

func (c *Chain) bound() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ends) < len(c.inputs) {
		return math.MaxInt64
	}
	return c.ends[len(c.ends)-1]
}
