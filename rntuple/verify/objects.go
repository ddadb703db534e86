package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/location"
	internal "github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/remote"
	store "github.com/go-rntuple/go-rntuple/remote/objects"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// objects checks the RNTuple whose objects are at a location. There is no container, and offsets
// stand for objects, which problems name instead.
func objects(ctx context.Context, c Options, at location.Location, report func(Problem) error) (*Summary, error) {
	f, err := remote.OpenObjects(ctx, at.Name(), &c.Remote)
	if errors.As(err, new(*frame.FormatError)) {
		return &Summary{Problems: 1}, report(Problem{Part: "anchor", Offset: -1, Check: Anchor, Err: err}.nowhere())
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c.Limits = rntuple.Limits(internal.Limits(c.Limits).ForObjects())
	v := newVerifier(ctx, c, f, f.Len(), func(p Problem) error {
		if p.Offset >= 0 && !errors.As(p.Err, new(*remote.Error)) { // which names it
			p.Err = &inObject{store.At(p.Offset), p.Err}
		}
		p.Offset = -1
		return report(p)
	})
	v.objects = true
	v.skip("the file around the RNTuple: it is in objects")
	v.load(anchorObject{path: at.Base(), class: anchor.ClassName, object: f.Anchor(), offset: -1}, nil)
	v.sortExtents()
	v.overlaps()
	v.more()
	return &v.summary, v.stopped()
}

// An inObject is an error with the number of the object that it is about.
type inObject struct {
	id  uint64
	err error
}

func (e *inObject) Error() string { return fmt.Sprintf("object %d: %v", e.id, e.err) }
func (e *inObject) Unwrap() error { return e.err }
