package pagesource

import (
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/remote/objects"
)

// placeObject makes a locator of an object one of what stands for it in Blobs of objects: the
// offset is that of objects.Offset. Equal locators stay equal, and others do not overlap.
func placeObject(l *locator.Locator) error {
	id, size, err := l.Object()
	if err != nil {
		return err
	}
	at, ok := objects.Offset(id)
	if !ok || size > objects.MaxSize {
		return frame.Unsupported("%d bytes in object %d, at most %d in one of %d objects are read", size, id,
			objects.MaxSize, objects.MaxCount)
	}
	*l = locator.At(uint64(at), size)
	return nil
}

// PlaceLists places the page lists of a footer for Blobs of objects.
func PlaceLists(f *envelope.Footer) error {
	for i := range f.ClusterGroups {
		if err := placeObject(&f.ClusterGroups[i].PageList.Locator); err != nil {
			return &frame.FormatError{Path: fmt.Sprintf("footer.cluster group %d.page list", i), Err: err}
		}
	}
	return nil
}

// PlacePages places the pages of a page list for Blobs of objects.
func PlacePages(list *envelope.PageList) error {
	for _, cluster := range list.Pages {
		for id, column := range cluster.Columns {
			for i := range column.Pages {
				if err := placeObject(&column.Pages[i].Locator); err != nil {
					return &frame.FormatError{Path: fmt.Sprintf("column %d.page %d", id, i), Err: err}
				}
			}
		}
	}
	return nil
}

// ParsePlaced parses a page list as ParsePageList of a Source of objects does.
func ParsePlaced(_ int, b []byte) (*envelope.PageList, error) {
	list, err := envelope.ParsePageList(b)
	if err == nil {
		err = PlacePages(list)
	}
	return list, err
}

// trusted is the size of the largest envelope, in bytes, for which memory is allocated before the
// store has said that it has so many bytes.
const trusted = 1 << 20

// confirm asks how large the object at l is, which is an envelope, if it should be large.
func (b *Blobs) confirm(ctx context.Context, l locator.Locator) error {
	store, ok := b.R.(objects.Source)
	if !ok || l.Size <= trusted {
		return nil
	}
	size, err := store.ObjectSize(ctx, int64(l.Offset))
	if err == nil && uint64(size) != l.Size {
		err = frame.Corrupt("object %d has %d bytes, expected %d", objects.At(int64(l.Offset)), size, l.Size)
	}
	return err
}
