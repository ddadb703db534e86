package pages

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A cluster is one on its way to the file.
type cluster struct {
	envelope.Cluster
	sink   *Sink
	arena  *arena
	pages  [][]*sealing // by column
	sealed sync.WaitGroup
	atMost int64 // bytes that it can take in the file

	mu    sync.Mutex
	known map[uint64][]byte // stored pages, see lookup

	settings []uint32 // compression of copied pages by column, or nil
	unshared Unshared

	lists []envelope.ColumnPages // complete but for the pages until done
	size  int64                  // bytes in the file
	err   error
	done  chan struct{} // closed when the cluster is written
}

// add appends a page of a column.
func (c *cluster) add(col *schema.Column, p *sealing) {
	c.pages[col.ID] = append(c.pages[col.ID], p)
	c.sealed.Add(1)
	c.atMost += col.Format().PageSize(p.elements) + checksum.Size
}

// start writes the cluster, in the background if there is more than one worker.
func (c *cluster) start() {
	out := c.sink.out
	out.await()
	if c.sink.set.Workers <= 1 {
		c.err = c.write()
		close(c.done)
		return
	}
	out.turn = c.done
	go func() {
		c.sealed.Wait()
		c.err = c.write()
		close(c.done)
	}()
}

// write writes the pages column by column, and completes lists.
func (c *cluster) write() error {
	w := blobWriter{cluster: c, seen: map[uint64]storedPage{}}
	var copies []*copied
	for i, sealed := range c.pages {
		if len(sealed) == 0 || c.lists[i].ElementOffset == envelope.Suppressed {
			continue
		}
		pages := make([]envelope.Page, len(sealed))
		c.lists[i].Pages = pages
		for j, p := range sealed {
			if p.err != nil {
				return p.err
			}
			if p.copy != nil {
				pages[j] = envelope.Page{NumElements: p.elements, HasChecksum: p.copy.page.HasChecksum}
				p.copy.to = &pages[j]
				copies = append(copies, p.copy)
				continue
			}
			pages[j] = envelope.Page{NumElements: p.elements, HasChecksum: !c.sink.set.NoChecksums}
			if err := w.add(storedPage{&pages[j], p.stored}); err != nil {
				return err
			}
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	return c.copyPages(copies)
}

// blobWriter joins the pages of a cluster into few payloads.
type blobWriter struct {
	cluster *cluster
	parts   [][]byte
	size    uint64           // of parts
	pages   []*envelope.Page // whose bytes parts are
	seen    map[uint64]storedPage
	same    []shared
}

// storedPage is a page with its bytes.
type storedPage struct {
	*envelope.Page
	bytes []byte
}

// shared is a page that has the bytes of another one.
type shared struct{ page, of *envelope.Page }

// add puts a page into the current payload, or makes it share the bytes of an
// equal one of this cluster.
func (w *blobWriter) add(page storedPage) error {
	s := w.cluster.sink
	size := uint64(len(page.bytes))
	page.Locator.Size = size
	if page.HasChecksum {
		page.Locator.Size -= checksum.Size
		if !s.set.NoSharing {
			sum := binary.LittleEndian.Uint64(page.bytes[size-checksum.Size:])
			if of, ok := w.seen[sum]; ok && bytes.Equal(of.bytes, page.bytes) {
				w.same = append(w.same, shared{page.Page, of.Page})
				return nil
			}
			w.seen[sum] = page
		}
	}
	w.cluster.size += int64(size)
	limit := s.set.MaxKeySize
	if limit == 0 {
		limit = math.MaxUint64
	}
	if w.size > 0 && w.size+size > limit {
		if err := w.write(); err != nil {
			return err
		}
	}
	if size > limit {
		at, err := anchor.WriteBlob(page.bytes, limit, s.out.blob)
		page.Locator = locator.At(uint64(at), page.Locator.Size)
		return err
	}
	w.parts, w.pages, w.size = append(w.parts, page.bytes), append(w.pages, page.Page), w.size+size
	return nil
}

// write writes the current payload and begins a new one.
func (w *blobWriter) write() error {
	if len(w.parts) == 0 {
		return nil
	}
	at, err := w.cluster.sink.out.blob(w.parts...)
	if err != nil {
		return err
	}
	for i, page := range w.pages {
		page.Locator = locator.At(uint64(at), page.Locator.Size)
		at += int64(len(w.parts[i]))
	}
	w.parts, w.pages, w.size = w.parts[:0], w.pages[:0], 0
	return nil
}

// flush writes what is left and tells shared pages where their bytes are.
func (w *blobWriter) flush() error {
	if err := w.write(); err != nil {
		return err
	}
	for _, s := range w.same {
		s.page.Locator = s.of.Locator
	}
	return nil
}
