package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"syscall/js"

	"github.com/go-rntuple/go-rntuple/remote"
)

func init() {
	for _, scheme := range []string{"http", "https"} {
		remote.Register(scheme, func(u *url.URL, o *remote.Options) (remote.Backend, error) {
			return &fetched{url: u.String(), most: o.Whole}, nil
		})
	}
}

// fetched reads a URL with the browser's fetch. It asks for one range at a time, and with no header
// that would need the server's leave.
type fetched struct {
	url   string
	most  int64  // bytes of a file that is read whole
	whole []byte // the file, if the server sends no ranges
}

// head is how many bytes are read when a file is opened.
const head = 64 << 10

// A response is what host.get has got.
type response struct {
	js.Value
	status int
}

// get asks for the bytes from first up to end, or for nothing but headers if there are none. If the
// server sends the whole file instead, it gets it unless it is larger than most.
func (f *fetched) get(ctx context.Context, first, end, most int64) (response, error) {
	stop := js.Global().Get("AbortController").New()
	defer context.AfterFunc(ctx, func() { stop.Call("abort") })()
	v, err := await(ctx, host.Call("get", f.url, first, end, most, stop.Get("signal")))
	if ctx.Err() != nil {
		return response{}, context.Cause(ctx)
	} else if err != nil { // the answer had begun
		return response{}, &remote.Temporary{Err: err}
	}
	r := response{v, v.Get("status").Int()}
	switch {
	case r.status == 0:
		return r, errors.New("the browser cannot fetch it: the server cannot be reached, or does not let pages of other sites read it (CORS)")
	case r.status == 401 || r.status == 403:
		return r, fmt.Errorf("%w (HTTP status %d)", fs.ErrPermission, r.status)
	case r.status == 404 || r.status == 410:
		return r, fmt.Errorf("%w (HTTP status %d)", fs.ErrNotExist, r.status)
	case r.status == 429 || r.status >= 500:
		return r, &remote.Temporary{Err: fmt.Errorf("HTTP status %d", r.status)}
	case r.status != 200 && r.status != 206:
		return r, fmt.Errorf("HTTP status %d", r.status)
	}
	return r, nil
}

// bytes returns the body.
func (r response) bytes() []byte {
	from := r.Get("bytes")
	b := make([]byte, from.Get("length").Int())
	js.CopyBytesToGo(b, from)
	return b
}

// size returns the size of the file, -1 if it is not known.
func (r response) size() int64 { return int64(r.Get("size").Float()) }

// version tells this content of the file from others.
func (r response) version() string { return r.Get("version").String() }

func (f *fetched) Open(ctx context.Context, tail int64, arrived func(int)) (info remote.Info, err error) {
	r, err := f.get(ctx, 0, head, f.most)
	if err != nil {
		return info, err
	}
	arrived(0)
	b := r.bytes()
	arrived(len(b))
	if info.Version = r.version(); r.status == 200 {
		if r.Get("tooLarge").Bool() {
			if size := r.size(); size >= 0 {
				return info, fmt.Errorf("%w, and its %d bytes are more than are read whole, %d", remote.ErrNoRanges, size, f.most)
			}
			return info, fmt.Errorf("%w, and it has more bytes than are read whole, %d", remote.ErrNoRanges, f.most)
		}
		f.whole = b
		info.Size = int64(len(b))
		info.Head, info.Tail = b[:min(len(b), head)], b[max(0, len(b)-head):]
		return info, nil
	}
	info.Head = b
	if info.Size = r.size(); info.Size < 0 {
		// The server does not let us see Content-Range, but anyone may see the length of all.
		if len(b) < head {
			info.Size = int64(len(b))
			return info, nil
		}
		r, err := f.get(ctx, 0, 0, 0)
		if err != nil {
			return info, err
		}
		if info.Size = r.size(); info.Size < 0 {
			return info, errors.New("the server does not say how long the file is: it must let pages of other sites see Content-Range (Access-Control-Expose-Headers)")
		}
	}
	// A range from the end, without the size, would need the server's leave.
	if from := max(int64(len(b)), info.Size-tail); from < info.Size {
		info.Tail, err = f.part(ctx, info, from, info.Size, arrived)
	}
	return info, err
}

func (f *fetched) Read(ctx context.Context, info remote.Info, ranges []remote.Range,
	arrived func(int)) (filled int, err error) {
	return fill(ranges, func(first, end int64) ([]byte, error) { return f.part(ctx, info, first, end, arrived) })
}

// fill fills ranges from the one part of a file that has them all.
func fill(ranges []remote.Range, part func(first, end int64) ([]byte, error)) (filled int, err error) {
	first := ranges[0].Offset
	b, err := part(first, ranges[len(ranges)-1].End())
	if err != nil {
		return 0, err
	}
	for _, r := range ranges {
		copy(r.Data, b[r.Offset-first:])
	}
	return len(ranges), nil
}

// part returns the bytes of the file that info describes from first up to end.
func (f *fetched) part(ctx context.Context, info remote.Info, first, end int64, arrived func(int)) ([]byte, error) {
	if f.whole != nil {
		arrived(int(end - first))
		return f.whole[first:end], nil
	}
	r, err := f.get(ctx, first, end, 0)
	switch {
	case err != nil && r.Value.Type() == js.TypeObject && r.status == 0:
		return nil, &remote.Temporary{Err: err} // it could be fetched before
	case err != nil:
		return nil, err
	case r.version() != info.Version:
		return nil, remote.ErrChanged
	case r.status != 206:
		return nil, fmt.Errorf("%w: it did for a part before", remote.ErrNoRanges)
	}
	arrived(0)
	b := r.bytes()
	if len(b) != int(end-first) {
		return nil, &remote.Temporary{Err: fmt.Errorf("%d bytes came instead of %d", len(b), end-first)}
	}
	arrived(len(b))
	return b, nil
}

func (f *fetched) Ranges() (n int, gap, least int64) { return 1, 0, 0 }

func (f *fetched) Close() error { return nil }
