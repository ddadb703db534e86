package pagesink

import (
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// A Column is what AppendCluster gives a column.
type Column struct {
	Suppressed  bool // another representation of the field has the elements
	Compression uint32
	Pages       []Page
	Bounds      func() zonemap.Bounds // of all elements, for Sink.Written; called when all pages are encoded, or nil
}

// A Page is a page for AppendCluster, which has either Encode or Placed, or for Buffer.Insert,
// which has Encode.
type Page struct {
	NumElements uint32

	// Encode appends the page as it is before compression; or, if Compressed is set,
	// as it is stored. The sink adds the checksum. Encode is called once, by any
	// goroutine.
	Encode     func(dst []byte) ([]byte, error)
	Compressed bool

	// Placed is a page that the caller of AppendCluster writes.
	Placed *envelope.Page
}

// AppendCluster commits the current cluster, if it has entries, and appends another
// one that has the given pages, by column ID. A column that gets none may have a Buffer,
// to which its elements were added after EndCluster. Pages with Encode are sealed by the
// sink's workers. When these are written, place, if not nil, must write the others
// and set their Placed; it returns how many bytes they take in the file.
//
// With several workers the cluster is written in the background: Encode and place
// may be called until Wait returns.
func (s *Sink) AppendCluster(entries int64, columns []Column, place func(*Output) (size int64, err error)) error {
	if s.EndCluster() != nil || entries == 0 {
		return s.Err()
	}
	c := s.current
	c.place, c.compression, c.given = place, make([]uint32, len(columns)), make([]func() zonemap.Bounds, len(s.columns))
	active := make([]bool, len(columns)) // in clusters that are filled
	for i, column := range columns {
		k := s.columns[i]
		active[i], k.suppressed = !k.suppressed, column.Suppressed
		c.compression[i], c.given[i] = column.Compression, column.Bounds
		for j := range column.Pages {
			c.append(k, &column.Pages[j])
		}
	}
	s.filled += entries
	err := s.commit()
	for i, k := range s.columns[:len(columns)] {
		k.suppressed = !active[i]
	}
	return err
}

// append adds a page to a column, and has it sealed if it must be.
func (c *clusterBuilder) append(k *columnSink, p *Page) {
	c.sink.unzipped += int64(p.NumElements) * k.packed
	if p.Encode == nil {
		c.add(k.column, &page{elements: p.NumElements, placed: p.Placed})
		c.sealed.Done()
		return
	}
	e := &encodedPage{page: page{elements: p.NumElements}, source: p, cluster: c, column: k}
	c.add(k.column, &e.page)
	c.sink.workers.do(e, leastQueue)
}

// An encodedPage is a page whose elements Page.Encode provides.
type encodedPage struct {
	page
	source  *Page
	cluster *clusterBuilder
	column  *columnSink
}

func (p *encodedPage) seal(t *scratch) {
	defer p.cluster.sealed.Done()
	if p.source.Compressed {
		p.stored, p.err = p.cluster.store(p.column.pageSize(p.elements), p.source.Encode)
	} else {
		p.stored, p.err = p.cluster.seal(t, p.column.pageSize(p.elements), p.source.Encode)
	}
	p.source = nil
}
