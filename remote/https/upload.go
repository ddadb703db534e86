package https

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/go-rntuple/go-rntuple/remote"
)

// upload writes a file by PUT: at its URL or, for WebDAV, where it is moved from.
func upload(ctx context.Context, t *remote.Transfer) error {
	b, err := plainHTTP(t.URL, t.Options)
	if err != nil {
		return err
	}
	defer b.Close()
	p := &put{Transfer: t, backend: b}
	if strings.HasPrefix(strings.ToLower(t.URL.Scheme), "dav") {
		return p.moved(ctx)
	}
	return p.direct(ctx)
}

// A put is an upload.
type put struct {
	*remote.Transfer
	*backend
}

// direct writes the file where it belongs. A server that does not wait for all of it, before
// readers find it, may keep what it has got of a file when the connection breaks.
func (p *put) direct(ctx context.Context) error {
	header := http.Header{}
	if !p.Replace {
		header.Set("If-None-Match", "*")
	}
	before := p.look(ctx, p.origin)
	err := p.store(ctx, p.origin, header)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	ctx, cancel := cleaning(ctx)
	defer cancel()
	switch now := p.look(ctx, p.origin); {
	case !before.known || !now.exists || now == before || now.size == p.Size:
	case !before.exists:
		p.remove(ctx, p.origin)
	default:
		err = fmt.Errorf("%w; the server has replaced the file that was there by a part of it", err)
	}
	return err
}

// moved writes the file under a temporary name, and renames it.
func (p *put) moved(ctx context.Context) error {
	dir, _ := path.Split(p.origin.Path)
	u := *p.origin
	u.Path, u.RawPath = dir+".rntuple-"+strings.ToLower(rand.Text()[:16])+".tmp", ""
	err := p.store(ctx, &u, http.Header{})
	if err == nil {
		overwrite := "F"
		if p.Replace {
			overwrite = "T"
		}
		err = p.try(ctx, "MOVE", &u, http.Header{"Destination": {p.origin.String()}, "Overwrite": {overwrite}}, nil)
	}
	if err != nil {
		ctx, cancel := cleaning(ctx)
		defer cancel()
		p.remove(ctx, &u)
	}
	return err
}

// store writes the file at a URL, and checks that the server has all of it.
func (p *put) store(ctx context.Context, u *url.URL, header http.Header) error {
	if err := p.try(ctx, http.MethodPut, u, header, p.From); err != nil {
		return err
	}
	if now := p.look(ctx, u); now.exists && now.size >= 0 && now.size != p.Size {
		return fmt.Errorf("the server has %d bytes of the file's %d", now.size, p.Size)
	}
	return nil
}

// try makes a request, which has the file as its body if from is set, until it succeeds.
func (p *put) try(ctx context.Context, method string, u *url.URL, header http.Header, from io.ReaderAt) error {
	return p.Try(ctx, func(ctx context.Context, sent func(int)) error {
		resp, err := p.send(ctx, method, u, header, from, sent)
		if err != nil {
			return err
		}
		defer finish(resp)
		sent(0)
		switch resp.StatusCode {
		case http.StatusOK, http.StatusCreated, http.StatusNoContent:
			return nil
		case http.StatusPreconditionFailed:
			return fs.ErrExist
		case http.StatusConflict:
			return fmt.Errorf("%w: the folder, as it seems; the server says 409 Conflict", fs.ErrNotExist)
		}
		return failure(resp)
	})
}

// send makes a request, which has the file as its body if from is set.
func (p *put) send(ctx context.Context, method string, u *url.URL, header http.Header, from io.ReaderAt,
	sent func(int)) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	r.Header = header.Clone()
	r.Header.Set("User-Agent", "go-rntuple")
	if from != nil {
		SetBody(r, from, 0, p.Size, sent)
	}
	if err := p.authorize(r); err != nil {
		return nil, err
	}
	return p.Do(r)
}

// A state is what is found at a URL.
type state struct {
	known, exists bool
	size          int64 // -1: the server does not say
	version       string
}

// look returns what is at a URL. Errors do not matter: then it is not known.
func (p *put) look(ctx context.Context, u *url.URL) (s state) {
	p.Try(ctx, func(ctx context.Context, sent func(int)) error {
		resp, err := p.send(ctx, http.MethodHead, u, http.Header{"Accept-Encoding": {"identity"}}, nil, nil)
		if err != nil {
			return err
		}
		defer finish(resp)
		sent(0)
		switch resp.StatusCode {
		case http.StatusOK:
			s = state{true, true, resp.ContentLength, version(resp)}
		case http.StatusNotFound, http.StatusGone:
			s = state{known: true}
		default:
			return failure(resp)
		}
		return nil
	})
	return s
}

// remove removes what may be left of an upload.
func (p *put) remove(ctx context.Context, u *url.URL) {
	if resp, err := p.send(ctx, http.MethodDelete, u, http.Header{}, nil, nil); err == nil {
		finish(resp)
	}
}

// cleaning returns the context of what is done after an error.
func cleaning(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
}
