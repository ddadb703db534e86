package pagesink

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/bounds"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A clusterBuilder is a cluster that is being filled or written.
type clusterBuilder struct {
	envelope.Cluster
	sink    *Sink
	arena   *arena
	pages   [][]*page // by column
	offsets []*int64  // number of the next element, by column
	sealed  sync.WaitGroup
	atMost  int64          // limit for the bytes that it takes in the file
	kinds   []zonemap.Kind // of the bounds that are wanted, by column; nil if none are

	known sync.Map // sealed pages, of type []byte, by the checksums of their bytes before compression

	// Of a cluster that AppendCluster makes, else nil.
	compression []uint32                // settings by column
	given       []func() zonemap.Bounds // by column
	place       func(*Output) (size int64, err error)

	lists    []envelope.ColumnPages // have no pages until done
	arranged bool
	size     int64         // bytes in the file, once it is arranged; with those of place once it is written
	done     chan struct{} // closed when the cluster is written
}

// A page is a page of a clusterBuilder.
type page struct {
	elements uint32
	stored   []byte         // once it is sealed, with its checksum
	first    *page          // an equal one, whose bytes it shares, or nil
	listed   *envelope.Page // in clusterBuilder.lists
	placed   *envelope.Page // written by clusterBuilder.place; then stored is nil
	bounds   *bounds.Part   // once it is sealed, if the column is tracked and they are known
	err      error
}

// add appends a page to a column. When the page is sealed it must be reported to
// c.sealed.
func (c *clusterBuilder) add(col *schema.Column, p *page) {
	c.pages[col.ID] = append(c.pages[col.ID], p)
	c.sealed.Add(1)
	c.atMost += col.Format().PageSize(p.elements) + checksum.Size
}

// finish writes the cluster once it is sealed, unless there was an error before.
func (c *clusterBuilder) finish() {
	c.sealed.Wait()
	err := c.sink.Err()
	if err == nil {
		err = c.arrange()
	}
	if err == nil {
		err = c.write()
	}
	c.sink.finish(c, err)
}

// arrange finds out which pages are written, and their size. All must be sealed.
func (c *clusterBuilder) arrange() error {
	if c.arranged {
		return nil
	}
	c.arranged = true
	seen := map[uint64]*page{}
	share := !c.sink.set.NoSharing && !c.sink.set.NoChecksums
	for i, pages := range c.pages {
		if c.lists[i].ElementOffset == envelope.Suppressed {
			continue
		}
		for _, p := range pages {
			if p.err != nil {
				return p.err
			}
			if p.placed != nil {
				continue
			}
			if share {
				sum := binary.LittleEndian.Uint64(p.stored[len(p.stored)-checksum.Size:])
				if first := seen[sum]; first != nil && bytes.Equal(first.stored, p.stored) {
					p.first = first
					continue
				}
				seen[sum] = p
			}
			c.size += int64(len(p.stored))
		}
	}
	return nil
}

// write writes the pages, column by column, and puts them into the lists.
func (c *clusterBuilder) write() error {
	w := payloadWriter{sink: c.sink}
	for i, pages := range c.pages {
		if len(pages) == 0 || c.lists[i].ElementOffset == envelope.Suppressed {
			continue
		}
		list := make([]envelope.Page, len(pages))
		c.lists[i].Pages = list
		for j, p := range pages {
			p.listed = &list[j]
			if p.placed != nil {
				continue
			}
			list[j] = envelope.Page{NumElements: p.elements, HasChecksum: !c.sink.set.NoChecksums}
			list[j].Locator.Size = uint64(len(p.stored)) - list[j].ChecksumSize()
			if p.first == nil {
				if err := w.add(p); err != nil {
					return err
				}
			}
		}
	}
	if err := w.write(); err != nil {
		return err
	}
	if c.place != nil {
		size, err := c.place(c.sink.out)
		if err != nil {
			return err
		}
		c.size += size
	}
	for _, pages := range c.pages {
		for _, p := range pages {
			switch {
			case p.listed == nil: // the column is suppressed
			case p.placed != nil:
				*p.listed = *p.placed
			case p.first != nil:
				p.listed.Locator = p.first.listed.Locator
			}
		}
	}
	return nil
}
