package ntuple

import (
	"cmp"
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/metadata"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/remote"
)

// openObjects opens the RNTuple whose objects are at a location. There is one: the name, if it is
// not empty, must be that in its header, as ROOT has it.
func openObjects(at location.Location, name string, o *ReadOptions) (*Reader, error) {
	f, err := remote.OpenObjects(o.Context, at.Name(), &o.Remote)
	if err != nil {
		return nil, err
	}
	blobs := pagesource.Blobs{R: f, Size: f.Len()}
	r, err := open(blobs, cmp.Or(name, at.Base()), anchor.ClassName, f.Anchor(), nil, o)
	if err == nil && name != "" && name != r.Header.Name {
		err = fmt.Errorf("RNTuple %q: %w; the URL has %s", name, rootfile.ErrNotFound, r.Header.Name)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	r.Path, r.closer = r.Header.Name, f
	return r, nil
}

// parseObjects is metadata.Parse for objects.
func parseObjects(a *anchor.Anchor, header, footer []byte) (*metadata.Metadata, error) {
	m, err := metadata.Parse(a, header, footer)
	if err != nil {
		return nil, err
	}
	if err := m.Footer.Features.Supported(); err != nil { // otherwise there may be other locators
		return nil, err
	}
	m.PageList = pagesource.ParsePlaced
	return m, pagesource.PlaceLists(m.Footer)
}

// listObjects is ListFile for a URL of objects.
func listObjects(ctx context.Context, at location.Location, o remote.Options) ([]Info, error) {
	r, err := openObjects(at, "", &ReadOptions{Context: ctx, Remote: o})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return []Info{{Path: r.Path, Class: anchor.ClassName, Newest: true}}, nil
}

// ForObjects returns the limits for objects, of which it is not known how large they are together:
// those of a large file, but that for pages is 16 times what ROOT writes.
func (l Limits) ForObjects() Limits {
	l.PageBytes = cmp.Or(l.PageBytes, 16<<20)
	return l.For(maxLimit)
}
