package ntuple

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/remote/objects"
)

// ErrReplaced reports that the file no longer has the RNTuple that was opened, but another
// one in its place.
var ErrReplaced = errors.New("the RNTuple has been replaced by another one")

// Refresh returns a Reader of the newest committed state of the RNTuple in the open file, or
// r if nothing was committed to it. Both Readers have the same file, which is closed with
// either of them, and share page lists.
func (r *Reader) Refresh(ctx context.Context) (*Reader, error) {
	fresh, err := r.refresh(ctx)
	if err != nil {
		return nil, fmt.Errorf("RNTuple %q: %w", r.Path, err)
	}
	return fresh, nil
}

func (r *Reader) refresh(ctx context.Context) (*Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch r.Source.R.(type) {
	case *remote.File, objects.Source:
		return nil, frame.Unsupported("a file at a URL is read as it was when it was opened")
	}
	trail := r.trail.Load()
	if r.again == nil || trail == nil {
		return nil, frame.Unsupported("a directory of the file has to lead to its anchor")
	}
	if changed, err := trail.Changed(); err != nil || !changed {
		return r, err
	}
	fresh, err := r.newest(ctx)
	if err != nil {
		return nil, err
	}
	trail = fresh.trail.Load()
	have, had := fresh.Source.Entries, r.Source.Entries
	switch end, size := trail.End(), fresh.Source.Size; {
	case end > size:
		return nil, &frame.FormatError{Path: "header",
			Err: frame.Corrupt("the file is truncated: it has %d of %d bytes", size, end)}
	case fresh.sum == r.sum: // the commit was to something else
		r.trail.Store(trail)
		return r, nil
	case have < had:
		return nil, fmt.Errorf("%w: it has %d entries, it had %d", ErrReplaced, have, had)
	}
	fresh.Path, fresh.closer = r.Path, r.closer
	fresh.Source.Share(r.Source)
	return fresh, nil
}

// newest opens the RNTuple anew. It must have the same header: a writer that adds to an
// RNTuple leaves it where it is.
func (r *Reader) newest(ctx context.Context) (*Reader, error) {
	fresh, err := r.again(ctx)
	if err != nil {
		return nil, err
	}
	if fresh.Anchor.SeekHeader != r.Anchor.SeekHeader || fresh.Source.HeaderChecksum() != r.Source.HeaderChecksum() {
		return nil, ErrReplaced
	}
	return fresh, nil
}

// reload is pagesource.Source.Reload. Without a commit it costs one read.
func (r *Reader) reload(ctx context.Context) (*pagesource.Source, error) {
	if r.again == nil {
		return nil, frame.Unsupported("nothing leads to the anchor")
	}
	if changed, err := r.trail.Load().Changed(); err != nil || !changed {
		return r.Source, err
	}
	fresh, err := r.newest(ctx)
	if err != nil {
		return nil, err
	}
	return fresh.Source, nil
}
