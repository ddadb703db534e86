package pagesink

import (
	"sync"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A clusterBuilder is a cluster that is being filled or written.
type clusterBuilder struct {
	envelope.Cluster
	sink   *Sink
	arena  *arena
	pages  [][]*page // by column
	sealed sync.WaitGroup
	atMost int64 // limit for the bytes that it takes in the file

	mu    sync.Mutex
	known map[uint64][]byte // sealed pages, see lookup

	// Of a cluster that AppendCluster makes, else nil.
	compression []uint32 // settings by column
	place       func(*Output) (size int64, err error)

	lists []envelope.ColumnPages // have no pages until done
	size  int64                  // bytes in the file
	err   error
	done  chan struct{} // closed when the cluster is written
}

// A page is a page of a clusterBuilder.
type page struct {
	elements uint32
	stored   []byte         // once it is sealed, with its checksum
	placed   *envelope.Page // written by clusterBuilder.place; then stored is nil
	err      error
}

// add appends a page to a column. When the page is sealed it must be reported to
// c.sealed.
func (c *clusterBuilder) add(col *schema.Column, p *page) {
	c.pages[col.ID] = append(c.pages[col.ID], p)
	c.sealed.Add(1)
	c.atMost += col.Format().PageSize(p.elements) + checksum.Size
}

// start writes the cluster, in the background if there is more than one worker.
func (c *clusterBuilder) start() {
	out := c.sink.out
	out.Wait()
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

// write writes the pages, column by column, and puts them into the lists.
func (c *clusterBuilder) write() error {
	w := payloadWriter{cluster: c, seen: map[uint64]storedPage{}}
	for i, pages := range c.pages {
		if len(pages) == 0 || c.lists[i].ElementOffset == envelope.Suppressed {
			continue
		}
		list := make([]envelope.Page, len(pages))
		c.lists[i].Pages = list
		for j, p := range pages {
			if p.err != nil {
				return p.err
			}
			if p.placed != nil {
				continue
			}
			list[j] = envelope.Page{NumElements: p.elements, HasChecksum: !c.sink.set.NoChecksums}
			if err := w.add(storedPage{&list[j], p.stored}); err != nil {
				return err
			}
		}
	}
	if err := w.flush(); err != nil || c.place == nil {
		return err
	}
	size, err := c.place(c.sink.out)
	c.size += size
	for i, list := range c.lists {
		for j := range list.Pages {
			if placed := c.pages[i][j].placed; placed != nil {
				list.Pages[j] = *placed
			}
		}
	}
	return err
}
