package rntuple

import (
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
	"github.com/go-rntuple/go-rntuple/schema"
)

// An Input is one of the data sets that a Chain puts one after the other: the
// RNTuple Name in the file at Path, or what Open or Source say.
type Input struct {
	Path string
	Name string // as Open takes it

	// Open, if set, opens the file whenever it is needed and not open: it returns
	// what reads it, safe for concurrent use, and its size in bytes. The chain closes
	// it if it is an io.Closer. Path only names it in errors then.
	Open func(context.Context) (io.ReaderAt, int64, error)
	// Source, if set, is the input. The chain does not close it.
	Source Source
}

// A Chain is a Source that has the entries of several inputs, one after the
// other. It opens an input when its entries are needed, the first one at once,
// and keeps few of them open, see MaxOpen. It is safe for concurrent use.
//
// The first input is the model for the others: what a view asks for must be in
// all of them. Fields are found by their names; where their types differ, each
// must fit the Go type. What an input lacks or has otherwise is a *SchemaError
// when its entries are reached; with the option AllowMissing, what it lacks is
// zero, or nil in dynamic values. Fields of type any must have the same type in
// all inputs.
//
// All errors that an input is to blame for are of type *InputError. Entry numbers
// in the errors it wraps are counted in the input.
type Chain struct {
	*chain
	ctx context.Context
}

// chain is what Chains of the same inputs share.
type chain struct {
	inputs  []Input
	options []Option
	config  *ntuple.ReadOptions
	given   []*opened // by input: those that are Sources, else nil
	model   fields    // those of the first input

	mu     sync.Mutex
	change sync.Cond       // an input was opened, released or closed
	open   map[int]*opened // by input
	clock  int64           // counts uses of inputs
	counts []int64         // by input: its entries, -1 if that is not known yet
	ends   []int64         // of the first inputs: the entries up to their end
	closed bool
}

// opened is an input that is open, or being opened.
type opened struct {
	Source       // nil while it is being opened
	users  int   // reads that are going on
	used   int64 // when the last one began
}

// fields is what a chain asks its first input for also while that is closed.
type fields interface {
	field(path string) (*schema.Field, error)
	names() []string
}

// An InputError says which input of a Chain an error comes from.
type InputError struct {
	Index int // of the input, from 0
	Path  string
	Err   error
}

func (e *InputError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("input %d of the chain: %v", e.Index, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

// Unwrap returns Err.
func (e *InputError) Unwrap() error { return e.Err }

// MaxOpen sets how many inputs a Chain has open at a time. Where more goroutines
// than that read from different inputs, they wait for each other, and files are
// opened again and again. Default: 16, or twice GOMAXPROCS if that is more.
func MaxOpen(n int) Option {
	return func(o *ntuple.ReadOptions) error {
		if n <= 0 {
			return fmt.Errorf("MaxOpen: %d", n)
		}
		o.MaxOpen = n
		return nil
	}
}

// OpenChain returns the chain of the RNTuples of the given name in the files at
// paths. The options hold for each of them. The caller closes the Chain.
func OpenChain(name string, paths []string, opts ...Option) (*Chain, error) {
	inputs := make([]Input, len(paths))
	for i, path := range paths {
		inputs[i] = Input{Path: path, Name: name}
	}
	return NewChain(inputs, opts...)
}

// NewChain returns the chain of the given inputs. The options hold for those that
// are files. The caller closes the Chain.
func NewChain(inputs []Input, opts ...Option) (*Chain, error) {
	config, err := ntuple.NewReadOptions(opts)
	if err != nil {
		return nil, err
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("a chain of no inputs")
	}
	if config.MaxOpen == 0 {
		config.MaxOpen = max(16, 2*runtime.GOMAXPROCS(0))
	}
	c := &chain{inputs: slices.Clone(inputs), options: slices.Clone(opts), config: config, open: map[int]*opened{}}
	c.change.L = &c.mu
	for _, input := range inputs {
		var o *opened
		if input.Source != nil {
			o = &opened{Source: input.Source}
		}
		c.given, c.counts = append(c.given, o), append(c.counts, -1)
	}
	err = c.with(config.Context, 0, func(o *opened) error {
		c.model = o.Source
		if r, ok := o.Source.(*Reader); ok {
			c.model = fieldsOf{r.Schema()} // outlives the reader
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Chain{c, config.Context}, nil
}

// Close closes what the chain has opened. It waits for reads that are going on;
// later ones fail.
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

// WithContext returns a Chain of the same inputs whose views and other methods
// stop with the context's error once it is done. Closing either closes both.
func (c *Chain) WithContext(ctx context.Context) *Chain { return &Chain{c.chain, ctx} }

// NumEntries returns the number of entries in all inputs. The first call opens
// each input that was not open yet, several at a time.
func (c *Chain) NumEntries() (int64, error) { return c.count(c.ctx) }

// Entries returns which entries of the chain each input has. These are good
// places to split work at. It opens inputs as NumEntries does.
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
	err := parallel.Do(min(c.config.Workers, c.config.MaxOpen), len(c.inputs), func(i int) error { return c.countOf(ctx, i) })
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err = c.sum()
	return c.ends[len(c.ends)-1], err
}

// countOf makes the number of entries of an input known.
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
		if err == nil {
			c.counts[i] = n
		}
		return err
	})
}

// sum extends c.ends as far as counts are known.
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

// find returns the input that has an entry, and which entries it has. There is no
// such input if ok is false.
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

// with calls use with an input, which stays open meanwhile. An error names the
// input.
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
		return &InputError{i, c.inputs[i].Path, err}
	}
	return nil
}

// acquire opens an input, if it is not open, and keeps it so until it is
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
		case o == nil && (len(c.open) < c.config.MaxOpen || c.evict(new(error))): // that of closing does not matter here
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

func (c *chain) release(o *opened) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.users--; o.users == 0 {
		c.change.Broadcast()
	}
}

// openInput opens an input for its first user. Others may use the chain
// meanwhile.
func (c *chain) openInput(ctx context.Context, i int) (*opened, error) {
	c.clock++
	o := &opened{users: 1, used: c.clock}
	c.open[i] = o
	before := c.counts[i]
	c.mu.Unlock()
	r, err := c.openReader(ctx, c.inputs[i])
	if err == nil && before >= 0 && r.NumEntries() != before {
		err = fmt.Errorf("the file has changed: it has %d entries, it had %d", r.NumEntries(), before)
		r.Close()
	}
	c.mu.Lock()
	defer c.change.Broadcast()
	if err != nil {
		delete(c.open, i)
		return nil, err
	}
	o.Source, c.counts[i] = r, r.NumEntries()
	return o, nil
}

func (c *chain) openReader(ctx context.Context, input Input) (*Reader, error) {
	if input.Open == nil {
		return Open(input.Path, input.Name, c.options...)
	}
	ra, size, err := input.Open(ctx)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(ra, size, input.Name, c.options...)
	closer, ok := ra.(io.Closer)
	switch {
	case ok && err != nil:
		closer.Close()
	case ok:
		r.ntuple.CloseWith(closer)
	}
	return r, err
}

// evict closes the input that nobody has used for the longest time. It reports
// false if all are in use.
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
	*err = errors.Join(*err, c.open[oldest].Source.(*Reader).Close())
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

func (c *Chain) bound() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ends) < len(c.inputs) {
		return math.MaxInt64
	}
	return c.ends[len(c.ends)-1]
}
