package verify

import (
	"context"
	"reflect"
	"slices"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/convert"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/schema"
)

// checks are the checks of a column's values, besides that they can be decoded.
type checks struct {
	index        bool   // offsets into a collection
	tagged       bool   // alternatives of a variant
	alternatives uint32 // number of alternatives
	// conversions to the types of the column's fields that cannot hold all values that
	// the column can.
	conversions []func(page []byte, elements uint32) error
}

// plain reports whether all values are valid.
func (c *checks) plain() bool { return !c.index && !c.tagged && len(c.conversions) == 0 }

// choose chooses the checks of the columns of f and of the fields below it.
func (n *ntuple) choose(f *schema.Field) {
	for _, rep := range f.Columns {
		for i, c := range rep {
			info := &n.columns[c.ID].checks
			switch {
			case i > 0: // the characters of strings and the bytes of objects
			case c.Type.IsIndex():
				info.index = true
			case f.Shape == schema.Variant:
				info.tagged, info.alternatives = true, uint32(len(f.Children))
			case f.Shape == schema.Scalar:
				if convert := conversion(c.Format(), f.ElementKind()); convert != nil {
					info.conversions = append(info.conversions, convert)
				}
			}
		}
	}
	for _, child := range f.Children {
		n.choose(child)
	}
}

// conversion returns the conversion of a column's values to a kind, which fails for values
// that the kind cannot hold. It is nil if there are none.
func conversion(from column.Format, to reflect.Kind) func(page []byte, elements uint32) error {
	switch {
	case convert.IsExact(from.Kind(), to), to == reflect.Bool, to == reflect.Float64:
		return nil
	case from.Type == column.Real32Quant: // its range is part of the schema
		return nil
	}
	return func(page []byte, elements uint32) error { return from.CheckRange(to, page, int(elements)) }
}

// A result is what the check of a page found.
type result struct {
	check Check // the failed check, if err is set
	err   error

	// Offsets of collections:
	first, last, widest uint64 // widest is the largest difference of successive offsets
	descent             int64  // index of the first offset lower than its predecessor; -1 if none
	above, below        uint64 // the predecessor and that offset

	tags []tag // alternatives of a variant, by number
}

// A tag counts one alternative of a variant in a page.
type tag struct {
	count   int64  // number of items
	highest uint64 // highest index of an item
}

// A task is a page to be checked.
type task struct {
	blobs  *pagesource.Blobs
	info   *columnInfo
	page   envelope.Page
	result *result
}

// A pageKey identifies pages that have the same result.
type pageKey struct {
	page   envelope.Page
	format column.Format
	values *columnInfo // nil if all values are valid
}

// batch is roughly the number of pages to check before their results are evaluated.
const batch = 1 << 12

// readAhead is the number of bytes of pages that are prefetched from a remote file.
const readAhead = 32 << 20

// checkPages checks the pages of an RNTuple, and then their values.
func (n *ntuple) checkPages() {
	n.blobs.ExpectWithin(readAhead)
	p := pageChecker{ntuple: n, results: map[pageKey]*result{}}
	p.shared = n.placePages()
	w := newWalk(n)
	for first := 0; first < len(n.clusters) && n.stopped() == nil; {
		end := first
		for ; end < len(n.clusters) && len(p.tasks) < batch; end++ {
			p.add(n.clusters[end])
		}
		p.check()
		for _, c := range n.clusters[first:end] {
			if c.seen {
				w.lose()
				continue
			}
			p.tell(c)
			w.cluster(c)
			c.results = nil
		}
		first = end
	}
}

// placePages adds the extents of all pages, and returns the offsets at which several pages
// begin.
func (n *ntuple) placePages() (shared map[uint64]bool) {
	before := len(n.extents)
	for _, c := range n.clusters {
		if c.seen {
			continue
		}
		for id, col := range c.columns {
			for i, p := range col.Pages {
				l := p.Locator
				l.Size = p.StoredSize()
				n.place(l, extent{owner: n.id, cluster: int32(c.ID), column: int32(id), page: int32(i)})
			}
		}
	}
	added := n.extents[before:]
	slices.SortStableFunc(added, byPlace)
	shared = map[uint64]bool{}
	for i := range added {
		if i > 0 && added[i-1].offset == added[i].offset {
			shared[added[i].offset] = true
		}
	}
	return shared
}

type pageChecker struct {
	*ntuple
	shared  map[uint64]bool // offsets at which several pages begin
	results map[pageKey]*result
	tasks   []task
}

// add adds the pages of a cluster to the tasks.
func (p *pageChecker) add(c *cluster) {
	if c.seen {
		return
	}
	c.results = make([][]*result, len(c.columns))
	for id, col := range c.columns {
		info := &p.columns[id]
		c.results[id] = make([]*result, len(col.Pages))
		for i, page := range col.Pages {
			p.summary.Pages++
			if page.ChecksumSize() == 0 {
				p.summary.Unsummed++
			}
			r := &result{descent: -1}
			if p.shared[page.Locator.Offset] {
				key := pageKey{page: page, format: info.format}
				if !info.checks.plain() {
					key.values = info
				}
				if known := p.results[key]; known != nil {
					c.results[id][i] = known
					continue
				}
				p.results[key] = r
			}
			c.results[id][i] = r
			p.tasks = append(p.tasks, task{&p.blobs, info, page, r})
		}
	}
}

// check checks the pages of all tasks.
func (p *pageChecker) check() {
	p.blobs.Expect(p.ctx, func(yield func(column.Format, envelope.Page) bool) {
		for _, t := range p.tasks {
			if !yield(t.info.format, t.page) {
				return
			}
		}
	})
	// The only error is that of the context, which the caller checks.
	_ = parallel.DoWith(p.Workers, len(p.tasks), func(s *scratch, i int) error {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		p.tasks[i].check(p.ctx, s)
		return nil
	})
	for _, t := range p.tasks {
		p.summary.Bytes += int64(t.page.StoredSize())
	}
	p.tasks = p.tasks[:0]
	if p.Progress != nil {
		total := p.size
		if p.objects {
			total = -1
		}
		p.Progress(min(p.summary.Bytes, p.size), total)
	}
}

// tell reports the problems of a cluster's pages.
func (p *pageChecker) tell(c *cluster) {
	for id := range c.columns {
		for i, r := range c.results[id] {
			if r.err != nil {
				p.report(Problem{
					RNTuple: p.path, Cluster: c.ID, Column: id, Field: p.field(id), Page: i,
					Offset: int64(c.columns[id].Pages[i].Locator.Offset), Check: r.check, Err: r.err,
				})
			}
		}
	}
}

// scratch is reusable memory for the elements of a page.
type scratch struct {
	offsets []uint64
	tags    []column.Tagged
}

// decode decodes the elements of the page into memory that is used again.
func decode[T column.Element](t *task, page []byte, memory *[]T) error {
	d, err := column.NewDecoder[T](t.info.format)
	if err != nil {
		return err
	}
	*memory = slices.Grow((*memory)[:0], int(t.page.NumElements))[:t.page.NumElements]
	return d.Decode(*memory, page)
}

// check reads, verifies and decompresses the page, and checks its values.
func (t *task) check(ctx context.Context, s *scratch) {
	r := t.result
	r.check = Pages
	err := t.blobs.Page(ctx, t.info.format, t.page, func(page []byte) error {
		c := &t.info.checks
		for _, convert := range c.conversions {
			if err := convert(page, t.page.NumElements); err != nil {
				r.check = Values
				return err
			}
		}
		switch {
		case c.index:
			return t.offsets(page, s)
		case c.tagged:
			return t.tags(page, s)
		}
		return nil
	})
	if err != nil {
		r.err = cause(err, int64(t.page.Locator.Offset))
		if l := t.page.Locator; l.InFile() != nil || l.Offset > uint64(t.blobs.Size) ||
			l.Size > uint64(t.blobs.Size)-l.Offset {
			r.check = Locators
		}
	}
}

// offsets summarizes the offsets of collections.
func (t *task) offsets(page []byte, s *scratch) error {
	if err := decode(t, page, &s.offsets); err != nil || len(s.offsets) == 0 {
		return err
	}
	r := t.result
	r.first, r.last = s.offsets[0], s.offsets[len(s.offsets)-1]
	last := r.first
	for i, v := range s.offsets {
		if v < last {
			r.descent, r.above, r.below = int64(i), last, v
			break
		}
		r.widest, last = max(r.widest, v-last), v
	}
	return nil
}

// tags counts the alternatives of variants.
func (t *task) tags(page []byte, s *scratch) error {
	if err := decode(t, page, &s.tags); err != nil {
		return err
	}
	most := t.info.checks.alternatives
	t.result.tags = make([]tag, most+1)
	for i, v := range s.tags {
		if v.Tag > most {
			t.result.check = Values
			return frame.Corrupt("item %d of the page has the tag %d, but there are %d alternatives", i, v.Tag, most)
		}
		of := &t.result.tags[v.Tag]
		of.count, of.highest = of.count+1, max(of.highest, v.Index)
	}
	return nil
}
