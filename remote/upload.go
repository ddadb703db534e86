package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/location"
)

// An Uploader writes a file with one protocol. It must make all requests with t.Try. As far as the
// protocol allows, readers must not see a partial file before it returns without an error. If the
// file exists and must not be replaced, the error wraps fs.ErrExist.
type Uploader func(ctx context.Context, t *Transfer) error

// RegisterUploader registers the Uploader of a URL scheme. It is called by packages that implement
// a protocol, and panics if the scheme already has one.
func RegisterUploader(scheme string, u Uploader) {
	schemes.Lock()
	defer schemes.Unlock()
	if schemes.uploaders[scheme] != nil {
		panic("remote: the uploader of the scheme " + scheme + " is registered twice")
	}
	schemes.uploaders[scheme] = u
}

// UploadOptions configures how remote files are written. The zero value and a nil pointer select
// the defaults.
type UploadOptions struct {
	Options
	// Replace replaces an existing file. Otherwise, an existing file is an error that wraps
	// fs.ErrExist.
	Replace bool
}

// digested is how many bytes of a file a server puts away in a second, at least, once it has got
// all.
const digested = 20e6

// Upload uploads size bytes of from to a URL. As far as the protocol guarantees it (see its
// package), readers see the file only when it is complete, and an existing file is preserved after
// an error. The server may take up to four minutes longer than o.Timeout to respond after it has
// received a large file. Because requests are retried, from may be read several times; it must be
// safe for concurrent use, and must not change.
func Upload(ctx context.Context, name string, from io.ReaderAt, size int64, options *UploadOptions) error {
	o := *cmp.Or(options, new(UploadOptions))
	at := location.Parse(name)
	complete, err := o.complete()
	if err != nil {
		return &Error{Op: "upload", URL: at.String(), Err: err}
	}
	o.Options = complete
	o.Timeout += time.Duration(min(size, 5e9)) * time.Second / digested
	o.Cache, o.Tail = nil, 1 // what is written need not be kept
	u, upload, err := uploader(at)
	if err != nil {
		return &Error{Op: "upload", URL: at.String(), Err: err}
	}
	// Uploads do not count when it is measured what it costs to read.
	h := hostOf("to "+u.Scheme+"://"+u.Host, o.Requests)
	t := &Transfer{
		URL: u, From: from, Size: size, Replace: o.Replace, Options: &o.Options,
		requests: requests{at.String(), o.Options, h, &o.Stats.written, newUse()},
	}
	if !o.Replace {
		if there, err := exists(ctx, at, o.Options); err != nil {
			return err
		} else if there {
			return &Error{Op: "upload", URL: t.name, Err: fs.ErrExist}
		}
	}
	err = upload(ctx, t)
	// A request that succeeded, but whose answer was lost, finds its own work when it is repeated.
	if t.repeated.Load() && (errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist)) && t.isThere(ctx, at) {
		err = nil
	}
	if err != nil && !errors.As(err, new(*Error)) && err != context.Cause(ctx) {
		err = &Error{Op: "upload", URL: t.name, Err: err}
	}
	return err
}

// CanUpload returns an error if the protocol of a URL does not support writing. It makes no
// requests.
func CanUpload(name string) error {
	at := location.Parse(name)
	_, _, err := uploader(at)
	if err != nil {
		err = &Error{Op: "upload", URL: at.String(), Err: err}
	}
	return err
}

// uploader returns how to write a file at a URL.
func uploader(at location.Location) (*url.URL, Uploader, error) {
	scheme := at.Scheme()
	schemes.RLock()
	upload, reads := schemes.uploaders[scheme], schemes.openers[scheme] != nil
	schemes.RUnlock()
	switch pkg, ok := importOf[scheme]; {
	case upload != nil:
		u, ok := at.URL()
		if !ok {
			return nil, nil, errNotURL
		}
		return u, upload, nil
	case reads:
		return nil, nil, fmt.Errorf("%w: files are not written by the protocol %q", errors.ErrUnsupported, scheme)
	case ok:
		return nil, nil, fmt.Errorf("%w %q; import github.com/go-rntuple/go-rntuple/%s", ErrScheme, scheme, pkg)
	}
	return nil, nil, fmt.Errorf("%w %q", ErrScheme, scheme)
}

// Exists reports whether a file exists at a URL. It also returns false if the server denies read
// access, since it is then unknown whether the file exists.
func Exists(ctx context.Context, name string, o *Options) (bool, error) {
	o = cmp.Or(o, new(Options))
	return exists(ctx, location.Parse(name), *o)
}

func exists(ctx context.Context, at location.Location, o Options) (bool, error) {
	o.Tail, o.Cache, o.Stats = 1, nil, nil
	f, err := openFile(ctx, at, o)
	switch {
	case err == nil:
		return true, f.Close()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return false, nil
	case errors.Is(err, ErrNoRanges):
		return true, nil
	}
	return false, err
}

// A Transfer is an upload in progress.
type Transfer struct {
	URL     *url.URL
	From    io.ReaderAt
	Size    int64 // in bytes
	Replace bool  // an existing file
	Options *Options

	requests
	repeated atomic.Bool
}

// Try makes a request and retries it after temporary errors, see Temporary. The request must call
// sent with the number of bytes each time data has been sent, and with 0 when the response begins.
func (t *Transfer) Try(ctx context.Context, request func(ctx context.Context, sent func(n int)) error) error {
	attempts := 0
	return t.try(ctx, "upload", func(ctx context.Context, sent func(int)) (bool, error) {
		if attempts++; attempts > 1 {
			t.repeated.Store(true)
		}
		return false, request(ctx, sent)
	})
}

// isThere reports whether the URL has what is to be uploaded.
func (t *Transfer) isThere(ctx context.Context, at location.Location) bool {
	f, err := openFile(ctx, at, *t.Options)
	if err != nil {
		return false
	}
	defer f.Close()
	if f.Len() != t.Size {
		return false
	}
	const step = 8 << 20
	theirs, mine := make([]byte, min(step, t.Size)), make([]byte, min(step, t.Size))
	for at := int64(0); at < t.Size; at += step {
		n := min(step, t.Size-at)
		if err := f.ReadRanges(ctx, []Range{{Offset: at, Data: theirs[:n]}}); err != nil {
			return false
		}
		if _, err := io.ReadFull(io.NewSectionReader(t.From, at, n), mine[:n]); err != nil ||
			!bytes.Equal(mine[:n], theirs[:n]) {
			return false
		}
	}
	return true
}
