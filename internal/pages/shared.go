package pages

import (
	"bytes"
	"errors"
	"sync"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
)

// page reads a page as Blobs.Page does. If share is set, its bytes are kept for
// other pages that have the same ones, or other readers, so that they are
// decompressed once.
func (s *Source) page(f column.Format, p envelope.Page, share bool, use func(page []byte) error) error {
	return s.once(f, p, share, func(use func([]byte) error) error { return s.Page(f, p, use) }, use)
}

// errNoSpan says that a span could not be read, so that pages have to be read one
// by one: only some of them may be at fault.
var errNoSpan = errors.New("pages cannot be read together")

// pageIn is page for one that lies in a span.
func (s *Source) pageIn(sp *span, f column.Format, p envelope.Page, share bool, use func(page []byte) error) error {
	return s.once(f, p, share, func(use func([]byte) error) error {
		n, err := s.extent(f, p)
		if err != nil {
			return err
		}
		stored, err := sp.bytes(s, int64(p.Locator.Offset), n)
		if err != nil {
			return errNoSpan
		}
		return s.open(f, p, stored, use)
	}, use)
}

func (s *Source) once(f column.Format, p envelope.Page, share bool, read func(use func([]byte) error) error, use func([]byte) error) error {
	key := sharedKey{p.Locator.Offset, f.PageSize(p.NumElements)}
	if !share || key.size == int64(p.Locator.Size) { // not compressed
		return read(use)
	}
	if plain := s.shared.get(key); plain != nil {
		if err := use(plain); err != nil {
			return pageError(p, err)
		}
		return nil
	}
	return read(func(plain []byte) error {
		s.shared.put(key, plain)
		return use(plain)
	})
}

// sharesBytes reports whether other pages of the cluster have the same place in
// the file.
func (c *Cluster) sharesBytes(p envelope.Page) bool {
	c.once.Do(func() {
		// Writers put pages one behind the other; only what points back needs a
		// closer look.
		var top uint64
		for _, list := range c.columns {
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

// maxShared is how many bytes of shared pages are kept, uncompressed.
const maxShared = 16 << 20

// sharedPages keeps the bytes of shared pages that were used last, uncompressed.
type sharedPages struct {
	mu    sync.Mutex
	pages map[sharedKey][]byte
	order []sharedKey // as they came
	used  int64
}

type sharedKey struct {
	offset uint64
	size   int64
}

func (s *sharedPages) get(key sharedKey) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pages[key]
}

// put keeps a copy of a page, in the place of those kept longest.
func (s *sharedPages) put(key sharedKey, plain []byte) {
	if key.size > maxShared {
		return
	}
	plain = bytes.Clone(plain)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages[key] != nil {
		return
	}
	for s.used+key.size > maxShared {
		oldest := s.order[0]
		s.order, s.used = s.order[1:], s.used-oldest.size
		delete(s.pages, oldest)
	}
	if s.pages == nil {
		s.pages = map[sharedKey][]byte{}
	}
	s.pages[key], s.order, s.used = plain, append(s.order, key), s.used+key.size
}
