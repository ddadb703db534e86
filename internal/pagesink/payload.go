package pagesink

import (
	"cmp"
	"math"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A payloadWriter writes the sealed pages of a cluster in a few payloads.
type payloadWriter struct {
	sink  *Sink
	pages []*page  // of the current payload
	parts [][]byte // their bytes
	size  uint64   // of parts
}

// add adds a page to the current payload.
func (w *payloadWriter) add(p *page) error {
	size, limit := uint64(len(p.stored)), cmp.Or(w.sink.set.MaxKeySize, math.MaxUint64)
	if w.size > 0 && w.size+size > limit {
		if err := w.write(); err != nil {
			return err
		}
	}
	if size > limit {
		at, err := anchor.WriteBlob(p.stored, limit, w.sink.out.Blob)
		p.listed.Locator = locator.At(uint64(at), p.listed.Locator.Size)
		return err
	}
	w.parts, w.pages, w.size = append(w.parts, p.stored), append(w.pages, p), w.size+size
	return nil
}

// write writes the current payload and begins a new one.
func (w *payloadWriter) write() error {
	if len(w.parts) == 0 {
		return nil
	}
	at, err := w.sink.out.Blob(w.parts...)
	if err != nil {
		return err
	}
	for _, p := range w.pages {
		p.listed.Locator = locator.At(uint64(at), p.listed.Locator.Size)
		at += int64(len(p.stored))
	}
	w.parts, w.pages, w.size = w.parts[:0], w.pages[:0], 0
	return nil
}
