package s3

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/remote/https"
)

func init() {
	remote.Register("s3", open)
	remote.RegisterUploader("s3", upload)
}

// A backend reads an object as a file on a web server, with signed requests.
type backend struct {
	remote.Backend
	*object
	whole int64
}

func open(u *url.URL, o *remote.Options) (remote.Backend, error) {
	object, err := newObject(u, o)
	if err != nil {
		return nil, err
	}
	b := &backend{object: object, whole: o.Whole}
	b.Backend, err = b.in(object.region)
	return b, err
}

// in returns the backend for a region.
func (b *backend) in(region string) (remote.Backend, error) {
	// S3 answers a request for several ranges with the whole object.
	return https.New(b.url(), https.Config{
		Sign: b.sign, Whole: b.whole, Single: true,
		Failure: func(resp *http.Response) error { return failure(resp, region) },
	})
}

// Open finds out in which region the bucket is, if the one that is configured is another one.
func (b *backend) Open(ctx context.Context, tail int64, arrived func(int)) (remote.Info, error) {
	info, err := b.Backend.Open(ctx, tail, arrived)
	var wrong *wrongRegion
	var a *answer
	switch {
	case errors.As(err, &a) && a.Code == "InvalidRange" && a.Size != nil && *a.Size == 0: // it is empty
		return remote.Info{}, nil
	case !errors.As(err, &wrong):
		return info, err
	}
	b.moveTo(wrong.region)
	there, err := b.in(wrong.region)
	if err != nil {
		return info, err
	}
	b.Backend.Close()
	b.Backend = there
	return b.Backend.Open(ctx, tail, arrived)
}
