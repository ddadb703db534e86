package pagesource

import (
	"bytes"
	"context"
	"sync"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
)

// readPage reads a page as Blobs.Page does, from ahead if it is planned there. If keep is
// set, it is noted that the page was read, for pages that share its bytes, and for other
// readers of the column: one that is not compressed is verified only once, and one that is
// is kept uncompressed when it is read again. Most are not: a copy of each would take a
// tenth of the time of reading. A compressed page is decompressed into memory of the
// caller's, unless into is nil.
func (s *Source) readPage(ctx context.Context, ahead *fetch, f column.Format, p envelope.Page, keep bool, into []byte,
	use func(page []byte) error) error {
	verify := !s.SkipChecksums
	if keep {
		key := keyOf(f, p)
		kept, known := s.shared.get(key)
		if plain, ok := kept.([]byte); ok {
			if err := use(plain); err != nil {
				return pageError(p, err)
			}
			return nil
		}
		compressed := key.size != int64(p.Locator.Size)
		verify = verify && (!known || compressed)
		given := use
		use = func(plain []byte) error {
			if compressed && known {
				s.shared.put(key, bytes.Clone(plain), len(plain))
			} else {
				s.shared.put(key, nil, 0)
			}
			return given(plain)
		}
	}
	n, err := s.StoredSize(f, p)
	if err != nil {
		return err
	}
	if ok, err := ahead.use(ctx, p, n, func(stored []byte) error { return open(f, p, stored, verify, into, use) }); ok {
		return err
	}
	return s.page(ctx, f, p, verify, into, use)
}

// sharesBytes reports whether p may share its bytes with other pages of the cluster.
func (c *Cluster) sharesBytes(p envelope.Page) bool {
	c.once.Do(func() {
		// Writers put one page behind the other. Only a page that lies further in
		// front than one seen before may be there twice.
		var top uint64
		for _, list := range c.columns() {
			for _, p := range list.Pages {
				if at := p.Locator.Offset; at >= top {
					top = at + 1
				} else {
					if c.shared == nil {
						c.shared = map[uint64]struct{}{}
					}
					c.shared[at] = struct{}{}
				}
			}
		}
	})
	_, ok := c.shared[p.Locator.Offset]
	return ok
}

// maxShared is the limit for the memory of sharedPages, in bytes.
const maxShared = 16 << 20

// sharedPages keeps the pages that were put in last: uncompressed, or decoded. Of others it
// only knows that they have been read.
type sharedPages struct {
	mu    sync.Mutex
	pages map[sharedKey]sharedPage
	order []sharedKey // oldest first
	used  int         // in bytes
}

// A sharedKey identifies the bytes of a page and, if it is decoded, its elements. It has all
// that they depend on, so that a page with a wrong locator is not taken for one that was
// verified.
type sharedKey struct {
	offset, stored uint64
	size           int64         // uncompressed
	sum            uint64        // size of the checksum
	format         column.Format // of a page that is decoded
}

type sharedPage struct {
	data any // []byte, elements or nil
	size int // in bytes
}

func keyOf(f column.Format, p envelope.Page) sharedKey {
	return sharedKey{offset: p.Locator.Offset, stored: p.Locator.Size,
		size: f.PageSize(p.NumElements), sum: p.ChecksumSize()}
}

// sharedOverhead is the memory that an entry takes beside its page, in bytes.
const sharedOverhead = 64

// get returns what is kept of a page, and whether it is known.
func (s *sharedPages) get(key sharedKey) (data any, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page, known := s.pages[key]
	return page.data, known
}

// put keeps data, of a size in bytes, which may be nil, and drops the oldest pages beyond
// maxShared.
func (s *sharedPages) put(key sharedKey, data any, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.pages[key]
	if known && (data == nil || old.data != nil) || size > maxShared/2 {
		return
	}
	if s.pages == nil {
		s.pages = map[sharedKey]sharedPage{}
	}
	size += sharedOverhead
	if !known {
		s.order = append(s.order, key)
	}
	s.pages[key], s.used = sharedPage{data, size}, s.used+size-old.size
	for s.used > maxShared {
		oldest := s.order[0]
		s.order, s.used = s.order[1:], s.used-s.pages[oldest].size
		delete(s.pages, oldest)
	}
}
