package remote

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/location"
)

// A Pool keeps closed files open for a while, so that reopening them takes no request; the file is
// then assumed to be unchanged. All users of a Pool must use the same Options, except Stats. It is
// safe for concurrent use.
type Pool struct {
	mu     sync.Mutex
	most   int
	files  map[string]*pooled // by URL
	idle   []*pooled          // the one that was closed last at the end
	closed bool
}

// pooled is a file of a Pool.
type pooled struct {
	*File
	url   string
	users int
}

// NewPool returns a Pool that keeps up to the given number of idle files open. The caller must
// close it.
func NewPool(files int) *Pool { return &Pool{most: files, files: map[string]*pooled{}} }

// Close closes the idle files. Files in use are closed when they become idle.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.shrink(0)
}

// open opens a file, or takes one that is open.
func (p *Pool) open(ctx context.Context, at location.Location, o Options) (*File, error) {
	o, err := o.complete()
	if err != nil {
		return nil, &Error{Op: "open", URL: at.String(), Err: err}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	name := at.Name()
	f := p.files[name]
	if f == nil {
		p.mu.Unlock()
		opened, err := open(ctx, at, o)
		p.mu.Lock()
		if err != nil {
			return nil, err
		}
		if f = p.files[name]; f == nil {
			f = &pooled{File: opened, url: name}
			p.files[name] = f
		} else { // somebody was faster
			opened.Close()
		}
	}
	f.users++
	p.idle = slices.DeleteFunc(p.idle, func(other *pooled) bool { return other == f })
	user := *f.File
	user.ctx, user.release, user.changed = ctx, sync.OnceValue(func() error { return p.release(f) }),
		func() { p.forget(f) }
	user.requests = requests{user.name, o, user.host, &o.Stats.read, newUse()}
	return &user, nil
}

// forget removes a file that has changed from the pool, so that later calls reopen it.
func (p *Pool) forget(f *pooled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files[f.url] == f {
		delete(p.files, f.url)
	}
}

// release says that one user has closed a file.
func (p *Pool) release(f *pooled) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.users--; f.users > 0 {
		return nil
	}
	p.idle = append(p.idle, f)
	if p.closed {
		return p.shrink(0)
	}
	return p.shrink(p.most)
}

// shrink closes files that nobody uses, those first that were closed first, until there are at most
// the given number. p.mu must be held.
func (p *Pool) shrink(most int) (err error) {
	for len(p.idle) > most {
		f := p.idle[0]
		p.idle = p.idle[1:]
		if p.files[f.url] == f {
			delete(p.files, f.url)
		}
		err = cmp.Or(err, f.File.Close())
	}
	return err
}
