package pages

import (
	"bytes"
	"sync"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
)

// readPage reads a page as Blobs.Page does, out of sp if that is not nil. If share
// is set, its bytes are kept for other pages that have the same ones, or other
// readers, so that they are verified and decompressed once.
func (s *Source) readPage(sp *span, f column.Format, p envelope.Page, share bool, use func(page []byte) error) error {
	verify := !s.SkipChecksums
	if share {
		key := sharedKey{p.Locator.Offset, p.Locator.Size, f.PageSize(p.NumElements), p.HasChecksum || p.HasCRC32}
		plain, known := s.shared.get(key)
		if plain != nil {
			if err := use(plain); err != nil {
				return pageError(p, err)
			}
			return nil
		}
		verify = verify && !known
		given := use
		use = func(plain []byte) error {
			if key.size == int64(p.Locator.Size) { // not compressed
				s.shared.put(key, nil)
			} else {
				s.shared.put(key, bytes.Clone(plain))
			}
			return given(plain)
		}
	}
	if sp != nil {
		n, err := s.extent(f, p)
		if err != nil {
			return err
		}
		if stored, err := sp.bytes(s, int64(p.Locator.Offset), n); err == nil {
			return s.open(f, p, stored, verify, use)
		}
		// Only some of the span's pages may be at fault.
	}
	return s.page(f, p, verify, use)
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

// sharedPages keeps the bytes of shared pages that were used last, uncompressed,
// and knows which ones that are not compressed have been verified.
type sharedPages struct {
	mu    sync.Mutex
	pages map[sharedKey][]byte
	order []sharedKey // as they came
	used  int64
}

// A sharedKey has all that tells the bytes of pages from each other, so that a
// locator that lies is not taken for one that was verified.
type sharedKey struct {
	offset, stored uint64
	size           int64 // uncompressed
	summed         bool
}

// sharedOverhead is what an entry takes beside the bytes of its page.
const sharedOverhead = 64

func (s *sharedPages) get(key sharedKey) (plain []byte, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	plain, known = s.pages[key]
	return plain, known
}

// put keeps plain, which may be nil, in the place of those kept longest.
func (s *sharedPages) put(key sharedKey, plain []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.pages[key]; known || len(plain) > maxShared/2 {
		return
	}
	if s.pages == nil {
		s.pages = map[sharedKey][]byte{}
	}
	s.pages[key], s.order, s.used = plain, append(s.order, key), s.used+int64(len(plain))+sharedOverhead
	for s.used > maxShared {
		oldest := s.order[0]
		s.order, s.used = s.order[1:], s.used-int64(len(s.pages[oldest]))-sharedOverhead
		delete(s.pages, oldest)
	}
}
