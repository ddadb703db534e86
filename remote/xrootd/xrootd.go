package xrootd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/remote/internal/credential"
)

func init() {
	for _, scheme := range []string{"root", "roots", "xroot", "xroots"} {
		remote.Register(scheme, open)
	}
}

// open returns the backend for a URL.
func open(u *url.URL, o *remote.Options) (remote.Backend, error) {
	origin, err := placeOf(u)
	if err != nil {
		return nil, err
	}
	return &backend{origin: origin, user: u.User.Username(), timeout: o.Timeout, maxWait: o.MaxWait,
		opening: make(chan struct{}, 1), servers: map[identity]*server{}}, nil
}

type backend struct {
	origin  place
	user    string // from the URL
	timeout time.Duration
	maxWait time.Duration
	opening chan struct{} // a lock
	tried   []string      // hosts that could not open the file; who has the lock may use it

	mu      sync.Mutex
	file    *file  // nil: not open
	next    *place // to which a request of the open file was redirected
	servers map[identity]*server
}

// A file is open on a server.
type file struct {
	conn   *conn
	place  place
	handle fileHandle
	info   remote.Info
	noStat atomic.Bool // the server does not tell the properties of an open file
}

// Close closes the file, and the connection if no other file uses it.
func (b *backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop()
	for _, s := range b.servers {
		s.release()
	}
	clear(b.servers)
	return nil
}

// drop closes the file, without waiting for the answer.
func (b *backend) drop() {
	if f := b.file; f != nil {
		p := newProgress(b.timeout, func(int) {})
		if k, err := f.conn.start(closeRequest(f.handle), new(message), p); err == nil {
			k.giveUp()
		}
	}
	b.file = nil
}

// least is how many bytes a request should have if more are wanted. Those of a file share a
// connection, so that several small ones arrive no sooner than a large one, and each has another
// one that asks whether the file changed.
const least = 16 << 20

// Ranges returns the limits of the server's vectored reads.
func (b *backend) Ranges() (int, int64, int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil {
		return defaultElements, gap, least
	}
	return b.file.conn.limits.Load().elements, gap, least
}

// Open opens the file and reads its first and its last bytes.
func (b *backend) Open(ctx context.Context, tail int64, arrived func(int)) (info remote.Info, err error) {
	err = b.do(ctx, arrived, func(f *file, p *progress) error {
		info = f.info
		if info.Size == 0 {
			return nil
		}
		info.Tail = make([]byte, min(tail, info.Size))
		ranges := []remote.Range{{Offset: info.Size - int64(len(info.Tail)), Data: info.Tail}}
		if info.Size/2 > tail {
			info.Head = make([]byte, tail)
			ranges = slices.Insert(ranges, 0, remote.Range{Data: info.Head})
		}
		var requests [][]element // two, because servers need not have vectored reads
		for i := range ranges {
			requests = append(requests, split(ranges[i:i+1], limits{})...)
		}
		_, err := f.read(ctx, ranges, requests, false, p)
		return err
	})
	return info, err
}

// Read reads ranges.
func (b *backend) Read(ctx context.Context, info remote.Info, ranges []remote.Range,
	arrived func(int)) (filled int, err error) {
	err = b.do(ctx, arrived, func(f *file, p *progress) (err error) {
		if err := f.check(info); err != nil {
			return err
		}
		filled, err = f.read(ctx, ranges, split(ranges, *f.conn.limits.Load()), true, p)
		return err
	})
	return filled, err
}

// check returns an error if the file is not the one with the given properties.
func (f *file) check(info remote.Info) error {
	switch {
	case f.info.Size != info.Size:
		return fmt.Errorf("%w: it has %d bytes now, %d before", remote.ErrChanged, f.info.Size, info.Size)
	case f.info.Version != info.Version:
		return fmt.Errorf("%w: its time is %s now, %s before", remote.ErrChanged, f.info.Version, info.Version)
	}
	return nil
}

// maxHops limits how often a request is redirected.
const maxHops = 16

// do calls a function with the open file, again if that is redirected.
func (b *backend) do(ctx context.Context, arrived func(int), act func(*file, *progress) error) error {
	p := newProgress(b.timeout, arrived)
	p.maxWait, p.server, p.what = b.maxWait, b.origin.address(), "open the file"
	for hops := 0; ; hops++ {
		f, err := b.open(ctx, p)
		if err == nil {
			p.server = f.place.address()
			err = act(f, p)
		}
		var to *redirection
		switch {
		case errors.As(err, &to) && f != nil && hops < maxHops:
			b.redirected(f, to)
			continue
		case codeOf(err) == errFileNotOpen && f != nil:
			b.redirected(f, nil) // the next attempt opens it
		}
		return p.waiting(b.redact(err))
	}
}

// redirected closes a file, of which a request was redirected.
func (b *backend) redirected(f *file, to *redirection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file != f {
		return
	}
	b.drop()
	if to != nil {
		next := f.place.follow(to, b.origin)
		b.next = &next
	}
}

// redact removes from what a server says what it was told in the query of the URL.
func (b *backend) redact(err error) error {
	e, ok := errors.AsType[*serverError](err)
	if !ok {
		return err
	}
	var secrets []string
	for _, part := range strings.FieldsFunc(b.origin.query, func(c rune) bool { return c == '&' || c == '=' }) {
		secrets = append(secrets, part)
		if s, err := url.QueryUnescape(part); err == nil {
			secrets = append(secrets, s, strings.TrimPrefix(s, "Bearer "))
		}
	}
	for _, s := range secrets {
		if len(s) >= 8 {
			e.text = strings.ReplaceAll(e.text, s, "…")
		}
	}
	return err
}

// open returns the open file, which it opens if it is not open, or its connection is broken.
func (b *backend) open(ctx context.Context, p *progress) (*file, error) {
	select {
	case b.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-b.opening }()
	b.mu.Lock()
	f, next := b.file, b.next
	b.next = nil
	b.mu.Unlock()
	if f != nil && f.conn.alive() {
		return f, nil
	}
	f, err := b.find(ctx, *cmp.Or(next, &b.origin), p)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.file = f
	return f, nil
}

// find opens the file at a place, or at that to which requests are redirected from there. If a
// server to which another one redirects cannot open it, the first one is told, and may know of
// another.
func (b *backend) find(ctx context.Context, at place, p *progress) (*file, error) {
	var failed error
	redirected := at != b.origin
	for range maxHops {
		target := at
		if !redirected && len(b.tried) > 0 {
			target.query = join(at.query, "tried="+strings.Join(b.tried, ","))
		}
		f, err := b.openAt(ctx, target, p)
		var to *redirection
		switch {
		case err == nil:
			b.tried = nil
			return f, nil
		case errors.As(err, &to):
			at, redirected = at.follow(to, b.origin), true
			if failed != nil && slices.Contains(b.tried, at.host) {
				return nil, failed
			}
		case !redirected:
			b.tried = nil
			return nil, cmp.Or(failed, err)
		default:
			if elsewhere(err) {
				b.tried = append(b.tried, at.host)
			}
			if ctx.Err() != nil || !elsewhere(err) {
				return nil, err
			}
			failed, at, redirected = err, b.origin, false
		}
	}
	return nil, cmp.Or(failed, fmt.Errorf("redirected %d times", maxHops))
}

// elsewhere reports whether another server may open a file that one could not.
func elsewhere(err error) bool {
	switch codeOf(err) {
	case 0:
		return !errors.Is(err, fs.ErrPermission)
	case errFSError, errIOError, errServerError, errNotFound, errNoServer, errOverloaded:
		return true
	}
	return false
}

// openAt opens the file on one server.
func (b *backend) openAt(ctx context.Context, at place, p *progress) (*file, error) {
	p.server, p.what = at.address(), "accept a connection"
	request := openRequest(at.file())
	c, k, err := b.server(at).connect(ctx, request, p)
	if err != nil {
		return nil, err
	}
	if c.server {
		c.askLimits()
	}
	body, err := c.ask(ctx, request, k, p)
	if err != nil {
		return nil, err
	}
	f := &file{conn: c, place: at}
	var told bool
	if f.handle, f.info, told, err = parseOpen(body); err != nil || told {
		return f, err
	}
	body, err = c.ask(ctx, statRequest(f.handle), nil, p)
	if err != nil {
		return nil, err
	}
	f.info, err = parseStat(cString(body))
	return f, err
}

// server returns the server at a place. A bearer token is for the host and port in the URL alone.
func (b *backend) server(at place) *server {
	id := identity{host: at.host, address: at.address(), tls: at.tls, user: b.user, login: at.login,
		certificates: credential.FindCertificates()}
	token, err := credential.Token()
	switch {
	case err != nil:
		id.noToken = err.Error()
	case token == "":
		id.noToken = "there is no bearer token"
	case !at.serves(b.origin):
		id.noToken = "the token is not for a server to which another one redirects"
	default:
		id.token = token
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.servers[id] == nil {
		b.servers[id] = useServer(id)
	}
	return b.servers[id]
}
