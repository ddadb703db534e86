package pagesink

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A payloadWriter writes the sealed pages of a cluster in a few payloads.
type payloadWriter struct {
	cluster *clusterBuilder
	parts   [][]byte         // of the current payload
	size    uint64           // of parts
	pages   []*envelope.Page // that parts are the bytes of
	seen    map[uint64]storedPage
	equal   []equalPage
}

// A storedPage is a page with its bytes, including the checksum.
type storedPage struct {
	*envelope.Page
	bytes []byte
}

// An equalPage is a page that shares the bytes of another one.
type equalPage struct{ page, first *envelope.Page }

// add adds a page to the current payload, or lets it share the bytes of an equal
// page of the cluster.
func (w *payloadWriter) add(page storedPage) error {
	s := w.cluster.sink
	size := uint64(len(page.bytes))
	page.Locator.Size = size - page.ChecksumSize()
	if page.HasChecksum && !s.set.NoSharing {
		sum := binary.LittleEndian.Uint64(page.bytes[size-checksum.Size:])
		if first, ok := w.seen[sum]; ok && bytes.Equal(first.bytes, page.bytes) {
			w.equal = append(w.equal, equalPage{page.Page, first.Page})
			return nil
		}
		w.seen[sum] = page
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
		at, err := anchor.WriteBlob(page.bytes, limit, s.out.Blob)
		page.Locator = locator.At(uint64(at), page.Locator.Size)
		return err
	}
	w.parts, w.pages, w.size = append(w.parts, page.bytes), append(w.pages, page.Page), w.size+size
	return nil
}

// write writes the current payload and begins a new one.
func (w *payloadWriter) write() error {
	if len(w.parts) == 0 {
		return nil
	}
	at, err := w.cluster.sink.out.Blob(w.parts...)
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

// flush writes the last payload, and sets the locators of pages that share bytes.
func (w *payloadWriter) flush() error {
	if err := w.write(); err != nil {
		return err
	}
	for _, e := range w.equal {
		e.page.Locator = e.first.Locator
	}
	return nil
}
