package pagecopy

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/bufpool"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A placement writes the pages of a cluster that are copied as they are stored.
type placement struct {
	copier *Copier
	set    pagesink.Settings
	out    *pagesink.Output
	pages  []*copied

	size     int64 // bytes written
	uncloned Uncloned
}

// A copied page is one that is copied as it is stored.
type copied struct {
	from   *Chunk
	page   envelope.Page // in the source
	size   int64         // with its checksum, in bytes
	column *schema.Column
	to     *envelope.Page // in the output
}

func (c *copied) offset() int64 { return int64(c.page.Locator.Offset) }

// sharesBytes reports whether two pages have the same bytes of a source.
func (c *copied) sharesBytes(d *copied) bool {
	return c.from.From == d.from.From && c.page.Locator == d.page.Locator && c.size == d.size
}

// moved sets the output's page to the bytes at an offset.
func (c *copied) moved(offset int64) {
	c.to.Locator = c.page.Locator
	c.to.Locator.Offset = uint64(offset)
}

// A stretch is a range of a source that is copied with one read and one write.
type stretch struct {
	pages     []*copied // that lie in it
	offset, n int64

	at     int64  // in the payload of the output
	cloned extent // the bytes of the stretch that the output has already
}

// An extent is a range of bytes, without the one at to.
type extent struct{ from, to int64 }

// stretchSize is the size in bytes at which a stretch ends: enough for few reads and
// writes, but so little that the bytes are still in the processor's cache when they
// are verified and written.
const stretchSize = 1 << 19

// maxPayload returns the largest size of a payload.
func (p *placement) maxPayload() int64 {
	const most = 1 << 30
	return int64(min(cmp.Or(p.set.MaxKeySize, most), most))
}

// place writes the pages to out, and returns how many bytes they take there.
func (p *placement) place(out *pagesink.Output) (size int64, err error) {
	p.out = out
	err = p.write()
	p.copier.mu.Lock()
	defer p.copier.mu.Unlock()
	p.copier.uncloned.add(p.uncloned)
	return p.size, err
}

// write writes the pages in the order that they have in their sources. Those that are
// adjacent there will be so in the output.
func (p *placement) write() error {
	limit := p.maxPayload()
	sources := map[*pagesource.Source]int{}
	for _, c := range p.pages {
		if _, ok := sources[c.from.From]; !ok {
			sources[c.from.From] = len(sources)
		}
	}
	slices.SortStableFunc(p.pages, func(a, b *copied) int {
		return cmp.Or(cmp.Compare(sources[a.from.From], sources[b.from.From]), cmp.Compare(a.offset(), b.offset()),
			cmp.Compare(b.size, a.size))
	})
	var blob []*stretch
	size := int64(0)
	var last *stretch
	var chunked *copied // the last one
	for _, c := range p.pages {
		n := c.size
		if c.from.From.Chunked(n) || n > limit {
			if chunked != nil && chunked.sharesBytes(c) {
				c.moved(int64(chunked.to.Locator.Offset))
				p.uncloned.count(c.from, n, nil)
				continue
			}
			chunked = c
			if err := p.writeChunked(c); err != nil {
				return err
			}
			continue
		}
		if last != nil && last.pages[0].from.From == c.from.From {
			switch end := last.offset + last.n; {
			case c.offset()+n <= end: // shares its bytes with another page
				last.pages = append(last.pages, c)
				continue
			case c.offset() == end && last.n < stretchSize && size+n <= limit:
				last.pages, last.n, size = append(last.pages, c), last.n+n, size+n
				continue
			}
		}
		if size+n > limit {
			if err := p.writeBlob(blob); err != nil {
				return err
			}
			blob, size = nil, 0
		}
		last = &stretch{pages: []*copied{c}, offset: c.offset(), n: n}
		blob, size = append(blob, last), size+n
	}
	return p.writeBlob(blob)
}

// writeBlob writes stretches as one payload.
func (p *placement) writeBlob(blob []*stretch) error {
	if len(blob) == 0 {
		return nil
	}
	var mu sync.Mutex // while one goroutine writes, others read and verify
	at, err := p.out.Write(p.layOut(blob), func(w io.WriterAt) error {
		return parallel.Do(p.set.Workers, len(blob), func(i int) error { return blob[i].copy(p.copier.ctx, w, &mu) })
	})
	if err != nil {
		return err
	}
	for _, s := range blob {
		p.size += s.n
		for _, c := range s.pages {
			c.moved(at + s.at + c.offset() - s.offset)
		}
	}
	return nil
}

// copy writes what the output does not have yet, and verifies the pages.
//
// Files are read even if they are mapped into memory: copying bytes into the
// processor's cache takes less time than having the system map them.
func (s *stretch) copy(ctx context.Context, w io.WriterAt, mu *sync.Mutex) error {
	from := s.pages[0].from
	b, lease := bufpool.Borrow[byte](int(s.n))
	defer lease.GiveBack()
	r := from.From.Exactly(ctx)
	if disk := diskOf(r); disk != nil {
		r = disk
	}
	missing := []extent{{0, s.cloned.from}, {s.cloned.to, s.n}}
	needed := missing
	if !from.From.SkipChecksums {
		needed = []extent{{0, s.n}}
	}
	for _, e := range needed {
		if err := anchor.ReadBlob(r, b[e.from:e.to], s.offset+e.from, 0); err != nil {
			return from.fail(s.pages[0].column, err)
		}
	}
	if err := s.verify(b); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	for _, e := range missing {
		if e.from < e.to {
			if _, err := w.WriteAt(b[e.from:e.to], s.at+e.from); err != nil {
				return err
			}
		}
	}
	return nil
}

// verify verifies the pages of the stretch, of which b are the bytes.
func (s *stretch) verify(b []byte) error {
	for i, c := range s.pages {
		if i > 0 && c.sharesBytes(s.pages[i-1]) {
			continue
		}
		at := c.offset() - s.offset
		if err := c.from.From.Verify(c.from.Column.Format(), c.page, b[at:at+c.size]); err != nil {
			return c.from.fail(c.column, err)
		}
	}
	return nil
}

// writeChunked writes a page that is spread over several keys, in the source or the
// output.
func (p *placement) writeChunked(c *copied) error {
	b, lease := bufpool.Borrow[byte](int(c.size))
	defer lease.GiveBack()
	if err := c.from.From.StoredPage(p.copier.ctx, c.from.Column.Format(), c.page, b); err != nil {
		return c.from.fail(c.column, err)
	}
	at, err := anchor.WriteBlob(b, p.set.MaxKeySize, p.out.Blob)
	c.moved(at)
	p.size += c.size
	p.uncloned.count(c.from, c.size, nil)
	return err
}
