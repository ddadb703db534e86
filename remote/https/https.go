package https

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-rntuple/go-rntuple/remote"
)

func init() {
	for _, scheme := range []string{"http", "https", "dav", "davs"} {
		remote.Register(scheme, open)
		remote.RegisterUploader(scheme, upload)
	}
}

// A Signer adds to a request what proves who makes it. It is called for each request, also for
// those to which a server redirects, but not for those to another host.
type Signer func(*http.Request) error

// open returns the backend for a URL.
func open(u *url.URL, o *remote.Options) (remote.Backend, error) { return plainHTTP(u, o) }

// plainHTTP returns the backend for a URL of one of the registered schemes.
func plainHTTP(u *url.URL, o *remote.Options) (*backend, error) {
	c := Config{Whole: o.Whole}
	if !o.Anonymous {
		c.Sign = authorize(u.User)
	}
	u = &url.URL{Scheme: strings.Replace(strings.ToLower(u.Scheme), "dav", "http", 1), Host: u.Host, Path: u.Path,
		RawPath: u.RawPath, RawQuery: u.RawQuery}
	if u.Host == "" {
		return nil, errors.New("the URL names no host")
	}
	return newBackend(u, c)
}

// A Config says how a protocol on top of HTTP reads a file.
type Config struct {
	Sign Signer // signs the requests; nil if they are not signed
	// size in bytes of the largest file that is read whole if the server sends no ranges
	Whole   int64
	Single  bool                       // requests ask for one range only
	Failure func(*http.Response) error // returns the error of a response of status 300 or higher; nil for errors by status
}

// New returns a backend that reads the file at an http or https URL. It is for packages that have a
// protocol on top of HTTP. With c.Failure it does not follow redirects.
func New(u *url.URL, c Config) (remote.Backend, error) { return newBackend(u, c) }

func newBackend(u *url.URL, c Config) (*backend, error) {
	b := &backend{origin: u, largest: c.Whole, sign: c.Sign, failure: c.Failure}
	redirect := stay
	if b.failure == nil {
		b.failure, redirect = failure, b.redirect
	}
	var err error
	if b.Client, err = newClient(redirect); err != nil {
		return nil, err
	}
	b.most.Store(maxRanges)
	if c.Single {
		b.most.Store(1)
	}
	return b, nil
}

// maxRanges is how many ranges a request asks for at most. Servers limit the length of headers to 8
// KiB as a rule.
const maxRanges = 128

// gap is how many bytes between two ranges cost no more than the header of another part.
const gap = 256

type backend struct {
	*Client
	origin  *url.URL
	largest int64
	sign    Signer
	failure func(*http.Response) error

	most   atomic.Int32            // ranges in a request
	failed atomic.Int32            // requests in a row, for several ranges
	moved  atomic.Pointer[url.URL] // to which the server redirects; nil: origin
	whole  []byte                  // the file, if the server sends no ranges
}

func (b *backend) Close() error {
	b.Client.Close()
	return nil
}

func (b *backend) Ranges() (n int, between, least int64) { return int(b.most.Load()), gap, 0 }

// passedOn are the headers that are the same for the host to which a server redirects. What a
// Signer has added is not.
var passedOn = map[string]bool{"Range": true, "If-Match": true, "If-None-Match": true, "Accept-Encoding": true,
	"Content-Type": true, "User-Agent": true, "Expect": true, "Destination": true, "Overwrite": true}

// redirect drops what must not be sent to another host.
func (b *backend) redirect(r *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	switch {
	case len(via) >= 10:
		return refused("redirected 10 times")
	case r.Method != via[0].Method: // by a status for forms in browsers
		return refused(fmt.Sprintf("redirected from %s to %s", via[0].Method, r.Method))
	case r.URL.Scheme != "http" && r.URL.Scheme != "https", from.Scheme == "https" && r.URL.Scheme != "https":
		return refused(fmt.Sprintf("redirected from %s to %s", from.Scheme, r.URL.Scheme))
	}
	for name := range r.Header {
		if !passedOn[name] {
			delete(r.Header, name)
		}
	}
	return b.authorize(r)
}

// authorize signs a request, unless it goes to another host than the user named.
func (b *backend) authorize(r *http.Request) error {
	if b.sign == nil || host(r.URL) != host(b.origin) {
		return nil
	}
	if err := b.sign(r); err != nil {
		return fmt.Errorf("%w: %w", fs.ErrPermission, refused(err.Error()))
	}
	return nil
}

// host returns the scheme, the host and the port of a URL.
func host(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// get asks for ranges, as the header Range has them.
func (b *backend) get(ctx context.Context, info remote.Info, ranges string) (*http.Response, error) {
	u := b.origin
	moved := b.moved.Load()
	if moved != nil {
		u = moved
	}
	r, err := b.request(ctx, u, info, ranges)
	if err != nil {
		return nil, err
	}
	resp, err := b.Do(r)
	if moved != nil && (err != nil || gone(resp.StatusCode)) { // it may be valid for a while only
		b.moved.CompareAndSwap(moved, nil)
		if ctx.Err() == nil {
			if err == nil {
				finish(resp)
			}
			return b.get(ctx, info, ranges)
		}
	}
	if err != nil {
		return nil, err
	}
	if final := resp.Request.URL; resp.StatusCode < 300 && final != r.URL {
		b.moved.Store(final)
	}
	return resp, nil
}

// gone reports whether a status may be that of a place to which the server does not redirect any
// more.
func gone(status int) bool {
	switch status {
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable, http.StatusRequestHeaderFieldsTooLarge:
		return false
	}
	return status >= 400
}

func (b *backend) request(ctx context.Context, u *url.URL, info remote.Info, ranges string) (*http.Request, error) {
	bare := *u
	bare.User = nil
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, bare.String(), nil)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	r.Header.Set("Range", "bytes="+ranges)
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", "go-rntuple")
	if tag, _, _ := strings.Cut(info.Version, " "); strings.HasPrefix(tag, `"`) {
		r.Header.Set("If-Match", tag)
	}
	return r, b.authorize(r)
}

// Open asks for the last bytes of the file.
func (b *backend) Open(ctx context.Context, tail int64, arrived func(int)) (info remote.Info, err error) {
	resp, err := b.get(ctx, info, fmt.Sprintf("-%d", tail))
	if err != nil {
		return info, err
	}
	defer finish(resp)
	arrived(0)
	switch resp.StatusCode {
	case http.StatusPartialContent:
		if err := plain(resp); err != nil {
			return info, err
		}
		if resp.ContentLength == 0 { // of an empty file; the header then says anything
			return b.openAtStart(ctx, arrived)
		}
		first, end, size, err := partOf(resp)
		if err != nil {
			return info, err
		}
		info = remote.Info{Size: size, Version: version(resp)}
		if end != size || size-first > max(tail, 1<<20) {
			return info, nil // not what was asked for
		}
		info.Tail = make([]byte, end-first)
		_, err = io.ReadFull(&counted{resp.Body, end - first, arrived}, info.Tail)
		return info, noEOF(err)
	case http.StatusRequestedRangeNotSatisfiable: // the file is empty, or the server counts from its start only
		return b.openAtStart(ctx, arrived)
	case http.StatusOK:
		if resp.ContentLength > tail || resp.ContentLength < 0 {
			resp.Body.Close()
			return b.openAtStart(ctx, arrived)
		}
		return b.openWhole(resp, arrived)
	}
	return info, b.failure(resp)
}

// openAtStart finds the size of the file by a range at its start.
func (b *backend) openAtStart(ctx context.Context, arrived func(int)) (info remote.Info, err error) {
	resp, err := b.get(ctx, info, "0-0")
	if err != nil {
		return info, err
	}
	defer finish(resp)
	switch resp.StatusCode {
	case http.StatusPartialContent:
		if err := plain(resp); err != nil {
			return info, err
		}
		_, _, size, err := partOf(resp)
		return remote.Info{Size: size, Version: version(resp)}, err
	case http.StatusOK:
		return b.openWhole(resp, arrived)
	case http.StatusRequestedRangeNotSatisfiable:
		if resp.Header.Get("Content-Range") == "bytes */0" { // it has not even one byte
			return remote.Info{Version: version(resp)}, nil
		}
	}
	return info, b.failure(resp)
}

// openWhole reads the whole file.
func (b *backend) openWhole(resp *http.Response, arrived func(int)) (info remote.Info, err error) {
	if err := plain(resp); err != nil {
		return info, err
	}
	if resp.ContentLength > b.largest {
		return info, fmt.Errorf("%w, and its %d bytes are more than are read whole, %d", remote.ErrNoRanges,
			resp.ContentLength, b.largest)
	}
	all, err := io.ReadAll(io.LimitReader(&counted{resp.Body, b.largest + 2, arrived}, b.largest+1))
	switch {
	case err != nil:
		return info, err
	case int64(len(all)) > b.largest:
		return info, fmt.Errorf("%w, and it has more bytes than are read whole, %d", remote.ErrNoRanges, b.largest)
	}
	b.whole = all
	return remote.Info{Size: int64(len(all)), Version: version(resp), Tail: all}, nil
}

// Read makes one request for ranges.
func (b *backend) Read(ctx context.Context, info remote.Info, ranges []remote.Range,
	arrived func(int)) (filled int, err error) {
	if b.whole != nil {
		for _, r := range ranges {
			copy(r.Data, b.whole[r.Offset:])
		}
		return len(ranges), nil
	}
	q := ask(ranges, int(b.most.Load()))
	resp, err := b.get(ctx, info, q.spec)
	if err != nil {
		return 0, err
	}
	defer finish(resp)
	arrived(0)
	several := q.pieces > 1
	switch code := resp.StatusCode; {
	case code == http.StatusPartialContent:
	case code == http.StatusOK && version(resp) != info.Version:
		return 0, remote.ErrChanged
	case code == http.StatusOK && several:
		return 0, b.fewer(1)
	case code == http.StatusOK:
		return 0, fmt.Errorf("%w: it did for a part before", remote.ErrNoRanges)
	case code == http.StatusRequestedRangeNotSatisfiable && resized(resp, info.Size):
		return 0, remote.ErrChanged
	case several && b.tooMany(resp):
		return 0, b.fewer(q.pieces / 2)
	default:
		return 0, b.failure(resp)
	}
	if err := plain(resp); err != nil {
		return 0, err
	}
	if v := version(resp); v != info.Version {
		return 0, remote.ErrChanged
	}
	b.failed.Store(0)
	s := &scatter{ranges: ranges[:q.ranges], size: info.Size, in: &counted{resp.Body, q.limit(), arrived}}
	err = s.response(resp)
	switch {
	case several && (errors.As(err, new(malformed)) || err == nil && s.filled < q.ranges): // in an order of its own, or the first one only
		return s.filled, b.fewer(1)
	case err == nil && s.filled < len(ranges):
		return s.filled, remote.ErrTooMany
	case err != nil:
		b.moved.Store(nil) // another server may do better
	}
	return s.filled, err
}

// fewer limits how many ranges requests have from now on.
func (b *backend) fewer(n int) error {
	for {
		most := b.most.Load()
		if int(most) <= n || b.most.CompareAndSwap(most, int32(n)) {
			return remote.ErrTooMany
		}
	}
}

// tooMany reports whether a server seems to have failed because a request has several ranges: not
// if it asks to wait, or has an error of its own for the first time.
func (b *backend) tooMany(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusRequestedRangeNotSatisfiable, http.StatusRequestHeaderFieldsTooLarge:
		return true
	}
	return resp.StatusCode >= 500 && resp.Header.Get("Retry-After") == "" && b.failed.Add(1) > 1
}

// resized reports whether a response says that a file has another size.
func resized(resp *http.Response, size int64) bool {
	now, ok := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes */")
	n, err := strconv.ParseInt(now, 10, 64)
	return ok && err == nil && n != size
}

// A question is what a request asks for.
type question struct {
	spec   string // for the header Range
	pieces int    // in it
	ranges int    // of which it is
	bytes  int64
}

// apart is the largest gap within a piece: if there is one that is larger, the backend could have
// more ranges when the request was planned.
const apart = 8 << 20

// ask returns the question for ranges, or for the first of them. If a request may have only one, it
// is everything from the first to the last.
func ask(ranges []remote.Range, most int) (q question) {
	var b strings.Builder
	begin := ranges[0].Offset
	for i, r := range ranges {
		next := r.End() // the offset of the next range
		if i+1 < len(ranges) {
			next = ranges[i+1].Offset
		}
		last := i+1 == len(ranges) || most <= 1 && next-r.End() > apart
		if last || most > 1 && next-r.End() > gap {
			if b.Len() > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%d-%d", begin, r.End()-1)
			q.pieces++
			q.bytes += r.End() - begin
			begin = next
		}
		if q.ranges++; last {
			break
		}
	}
	q.spec = b.String()
	return q
}

// limit returns how many bytes a response may have: those that were asked for, and headers of its
// parts. A server may join parts with gaps that are shorter than headers.
func (q question) limit() int64 { return q.bytes + 64<<10 + 4<<10*int64(q.pieces) }

// version returns what tells this content of a file from others.
func version(resp *http.Response) string {
	v := resp.Header.Get("ETag")
	if t := resp.Header.Get("Last-Modified"); t != "" {
		v += " " + t
	}
	return v
}

// plain returns an error if the bytes of a response are not those of the file.
func plain(resp *http.Response) error {
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return fmt.Errorf("the server sends the file encoded, as %q", e)
	}
	return nil
}

// failure returns the error of a response.
func failure(resp *http.Response) error {
	text := fmt.Errorf("the server says %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, text)
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return fmt.Errorf("%w: %w", fs.ErrPermission, text)
	case http.StatusPreconditionFailed:
		return remote.ErrChanged
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &remote.Temporary{Err: text, After: retryAfter(resp.Header.Get("Retry-After"))}
	}
	return text
}

// retryAfter returns how long a server asks to wait.
func retryAfter(s string) time.Duration {
	if n, err := strconv.ParseUint(s, 10, 32); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// counted reports the bytes that are read, and fails where there are more than a limit.
type counted struct {
	io.Reader
	left    int64
	arrived func(int)
}

func (c *counted) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if c.left <= 0 {
		return 0, malformed("the server sends more bytes than were asked for")
	}
	n, err := c.Reader.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if n > 0 {
		c.arrived(n)
	}
	return n, err
}

// finish reads what is left of a short response, so that the connection can be used again.
func finish(resp *http.Response) {
	io.CopyN(io.Discard, resp.Body, 4<<10)
	resp.Body.Close()
}
