package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	rcolumn "github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/test/bench/work"
)

// pageBytes is the uncompressed size of a full page, ROOT's default.
const pageBytes = 1 << 20

// A pageKind makes the bytes of all pages of a kind from a file.
type pageKind struct {
	name string // of the kind
	data string // F, J or S
	read func(r *rntuple.Reader) ([][]byte, error)
}

var pageKinds = []pageKind{
	{"momenta", "F", flatPages[float64](rcolumn.SplitReal64, "H1_PX")},
	{"probabilities", "F", flatPages[float64](rcolumn.SplitReal64, "H1_ProbK")},
	{"charges", "F", flatPages[int32](rcolumn.SplitInt32, "H1_Charge")},
	{"truncated", "J", jaggedPages[float32](rcolumn.SplitReal32, "Jet_pt", "Jet_eta")},
	{"counts", "J", jaggedPages[int32](rcolumn.SplitInt32, "Jet_nConstituents")},
	{"offsets", "J", offsetPages},
	{"booleans", "J", flatPages[bool](rcolumn.Bit, "HLT_00", "HLT_05", "HLT_10", "HLT_15", "HLT_19")},
	{"events", "J", flatPages[uint64](rcolumn.SplitUInt64, "Event")},
	{"text", "S", textPages},
}

// flatPages reads fields of numbers.
func flatPages[T work.Number](t rcolumn.Type, names ...string) func(*rntuple.Reader) ([][]byte, error) {
	return func(r *rntuple.Reader) (pages [][]byte, err error) {
		for _, name := range names {
			view, err := rntuple.ViewOf[T](r, name)
			if err != nil {
				return nil, err
			}
			values := make([]T, r.NumEntries())
			if _, err := view.Read(values, 0); err != nil {
				return nil, err
			}
			if pages, err = appendPages(pages, t, values); err != nil {
				return nil, err
			}
		}
		return pages, nil
	}
}

// jaggedPages reads the items of fields of collections.
func jaggedPages[T work.Number](t rcolumn.Type, names ...string) func(*rntuple.Reader) ([][]byte, error) {
	return func(r *rntuple.Reader) (pages [][]byte, err error) {
		for _, name := range names {
			_, items, err := readJagged[T](r, name)
			if err != nil {
				return nil, err
			}
			if pages, err = appendPages(pages, t, items); err != nil {
				return nil, err
			}
		}
		return pages, nil
	}
}

func readJagged[T work.Number](r *rntuple.Reader, name string) (offsets []int64, items []T, err error) {
	view, err := rntuple.JaggedOf[T](r, name)
	if err != nil {
		return nil, nil, err
	}
	offsets = make([]int64, r.NumEntries()+1)
	items, _, err = view.Read(offsets, nil, 0)
	return offsets, items, err
}

// offsetPages reads the ends of collections.
func offsetPages(r *rntuple.Reader) ([][]byte, error) {
	offsets, _, err := readJagged[float32](r, "Jet_pt")
	if err != nil {
		return nil, err
	}
	ends := make([]uint64, len(offsets)-1)
	for i := range ends {
		ends[i] = uint64(offsets[i+1])
	}
	return appendPages(nil, rcolumn.SplitIndex64, ends)
}

// textPages reads the characters of strings.
func textPages(r *rntuple.Reader) (pages [][]byte, err error) {
	view, err := rntuple.ViewOf[string](r, "ID")
	if err != nil {
		return nil, err
	}
	values := make([]string, r.NumEntries())
	if _, err := view.Read(values, 0); err != nil {
		return nil, err
	}
	for text := []byte(strings.Join(values, "")); len(text) > 0; {
		n := min(len(text), pageBytes)
		pages = append(pages, text[:n])
		text = text[n:]
	}
	return pages, nil
}

// appendPages encodes values, at most 8 full pages.
func appendPages[T work.Number](pages [][]byte, t rcolumn.Type, values []T) ([][]byte, error) {
	perPage := pageBytes / int(rcolumn.Size[T]())
	if t == rcolumn.Bit {
		perPage *= 8
	}
	width := map[rcolumn.Type]uint16{rcolumn.Bit: 1, rcolumn.SplitInt32: 32, rcolumn.SplitReal32: 32}[t]
	if width == 0 {
		width = 64
	}
	for len(values) > 0 && len(pages) < 8 {
		n := min(len(values), perPage)
		page, err := rcolumn.Append(rcolumn.Format{Type: t, Bits: width}, nil, values[:n])
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
		values = values[n:]
	}
	return pages, nil
}

// writePages writes the pages of a kind, uncompressed; ../cpp/codecs.cpp has the
// layout.
func writePages(kind, file, output string) error {
	for _, k := range pageKinds {
		if k.name != kind {
			continue
		}
		r, err := rntuple.Open(file, "Events", nil)
		if err != nil {
			return err
		}
		defer r.Close()
		pages, err := k.read(r)
		if err != nil {
			return err
		}
		var out []byte
		for _, page := range pages {
			out = binary.LittleEndian.AppendUint32(out, uint32(len(page)))
			out = binary.LittleEndian.AppendUint32(out, 0)
			out = append(out, page...)
		}
		return os.WriteFile(output, out, 0o644)
	}
	return fmt.Errorf("unknown kind of pages: %q", kind)
}

type storedPage struct{ raw, stored []byte }

func loadPages(file string) ([]storedPage, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var pages []storedPage
	for len(b) >= 8 {
		n, m := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
		if b = b[8:]; n+m > len(b) {
			return nil, errors.New("a page is cut")
		}
		pages = append(pages, storedPage{b[:n], b[n:][:m]})
		b = b[n+m:]
	}
	return pages, nil
}

// Each repetition goes over the pages until it has processed this many bytes, as in
// ../cpp/codecs.cpp.
const (
	decodedBytes = 64 << 20
	encodedBytes = 16 << 20
)

// decodePages decodes the pages of a file repeatedly.
func decodePages(file string) error {
	pages, err := loadPages(file)
	if err != nil {
		return err
	}
	buf := make([]byte, pageBytes)
	for _, p := range pages {
		if err := compress.Decompress(buf[:len(p.raw)], p.stored); err != nil || !bytes.Equal(buf[:len(p.raw)], p.raw) {
			return errors.Join(errors.New("decoded wrongly"), err)
		}
	}
	return servePages(pages, decodedBytes, func(p storedPage) (int, error) {
		return len(p.stored), compress.Decompress(buf[:len(p.raw)], p.stored)
	})
}

// encodePages compresses the pages of a file repeatedly.
func encodePages(settings compress.Settings, file string) error {
	pages, err := loadPages(file)
	if err != nil {
		return err
	}
	var buf []byte
	return servePages(pages, encodedBytes, func(p storedPage) (int, error) {
		var err error
		buf, err = compress.Append(buf[:0], p.raw, settings)
		return len(buf), err
	})
}

// servePages calls each for the pages, over and over, until they had enough bytes
// uncompressed. each returns the stored size of a page.
func servePages(pages []storedPage, enough uint64, each func(storedPage) (int, error)) error {
	return work.ServeSized(func() (sums []uint64, stored int64, err error) {
		raw := uint64(0)
		for raw < enough {
			for _, p := range pages {
				n, err := each(p)
				if err != nil {
					return nil, 0, err
				}
				raw += uint64(len(p.raw))
				stored += int64(n)
			}
		}
		return []uint64{raw}, stored, nil
	})
}
