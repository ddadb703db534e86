package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/remote/objects"
)

// A File is a remote file open for reading. All reads are from the version that was opened; if the
// file changes, they return an error that wraps ErrChanged. It is safe for concurrent use.
type File struct {
	requests
	backend Backend
	objects objects.Backend // backend, if it is one of objects; else nil
	info    Info
	ctx     context.Context
	cache   *cached // nil: none
	blocks  *blocks
	release func() error // of a file in a Pool: it stays open; else nil
	changed func()       // of a file in a Pool, called if it is not what it was; else nil
}

// Open opens the file at a URL, usually with one request. The context applies to Open and to
// ReadAt. If the URL refers to objects, the error wraps ErrObjects.
func Open(ctx context.Context, name string, o *Options) (*File, error) {
	o = cmp.Or(o, new(Options))
	return openFile(ctx, location.Parse(name), *o)
}

func openFile(ctx context.Context, at location.Location, o Options) (*File, error) {
	if at.IsObjects() {
		return nil, &Error{Op: "open", URL: at.String(), Err: ErrObjects}
	}
	return openAny(ctx, at, o)
}

func openAny(ctx context.Context, at location.Location, o Options) (*File, error) {
	if o.Pool != nil {
		return o.Pool.open(ctx, at, o)
	}
	return open(ctx, at, o)
}

func open(ctx context.Context, at location.Location, o Options) (*File, error) {
	o, err := o.complete()
	if err != nil {
		return nil, &Error{Op: "open", URL: at.String(), Err: err}
	}
	b, host, err := backend(at, &o)
	if err != nil {
		return nil, err
	}
	store, ok := b.(objects.Backend)
	if ok != at.IsObjects() {
		b.Close()
		return nil, &Error{Op: "open", URL: at.String(), Err: errors.ErrUnsupported}
	}
	f := &File{backend: b, objects: store, ctx: ctx, blocks: new(blocks),
		requests: requests{at.String(), o, hostOf(host, o.Requests), &o.Stats.read, newUse()}}
	err = f.try(ctx, "open", func(ctx context.Context, arrived func(int)) (progress bool, err error) {
		f.info, err = b.Open(ctx, o.Tail, arrived)
		if err == nil && (f.info.Size < 0 || f.info.Size < int64(max(len(f.info.Tail), len(f.info.Head)))) {
			err = fmt.Errorf("the server says that the file has %d bytes", f.info.Size)
		}
		return false, err
	})
	if err != nil {
		f.Close()
		return nil, err
	}
	f.blocks.add(0, f.info.Head)
	f.blocks.add(f.info.Size-int64(len(f.info.Tail)), f.info.Tail)
	o.Stats.opened.Add(1)
	if f.objects == nil { // the size of objects together is not known
		o.Stats.size.Add(f.info.Size)
	}
	f.info.Head, f.info.Tail = nil, nil
	if o.Cache != nil && f.info.Version != "" {
		f.cache = o.Cache.of(at.Name(), f.info)
	}
	return f, nil
}

// Close closes the file. Requests in progress, and later ones, fail with an error that wraps
// fs.ErrClosed.
func (f *File) Close() error {
	f.use.close()
	if f.release != nil {
		return f.release()
	}
	return f.backend.Close()
}

// Len returns the size of the file in bytes.
func (f *File) Len() int64 { return f.info.Size }

// Version returns the server's identifier of the file's content, such as an ETag. It is empty if
// unknown.
func (f *File) Version() string { return f.info.Version }

// Name returns the redacted URL, see Redact.
func (f *File) Name() string { return f.name }

// Costs returns the current estimate of the cost of requests.
func (f *File) Costs() Costs {
	c := f.host.costs(f.backend.Ranges())
	if f.objects != nil { // an object takes a request, however small it is
		c.Requests = f.o.Requests
	}
	return c
}

// ReadRanges fills ranges, which must be in order and not overlap, with one request unless the
// server rejects it or it must be retried.
func (f *File) ReadRanges(ctx context.Context, ranges []Range) error {
	for _, r := range ranges {
		f.o.Stats.wanted.Add(int64(len(r.Data)))
	}
	return f.fetch(ctx, f.blocks.fill(ranges))
}

// fetch fills ranges that are not in memory.
func (f *File) fetch(ctx context.Context, rest []Range) error {
	if f.cache != nil {
		rest = f.cache.fill(rest, f.o.Stats)
	}
	wanted := rest
	for refused := 0; len(rest) > 0; {
		err := f.try(ctx, "read", func(ctx context.Context, arrived func(int)) (bool, error) {
			part := f.fit(rest) // now, since it may have waited while the backend learned what it can have
			n, err := f.backend.Read(ctx, f.info, part, arrived)
			rest = rest[n:]
			switch {
			case err == nil && n < len(part):
				err = io.ErrUnexpectedEOF
			case errors.Is(err, ErrTooMany) && refused < maxRefused: // the backend will have fewer in a request now
				refused++
				err = nil
			}
			return n > 0, err
		})
		if err != nil {
			if f.changed != nil && errors.Is(err, ErrChanged) {
				f.changed()
			}
			return err
		}
	}
	if f.cache != nil {
		f.cache.keep(wanted)
	}
	return nil
}

// maxRefused is how often requests for several ranges may be refused until one is taken.
const maxRefused = 100

// fit returns how many of the first ranges one request can have.
func (f *File) fit(ranges []Range) []Range {
	n, gap, least := f.backend.Ranges()
	if n <= 1 {
		gap = f.host.costs(n, gap, least).Gap
	}
	pieces := 1
	for i := 1; i < len(ranges); i++ {
		if ranges[i].Offset-ranges[i-1].End() > gap {
			if pieces++; pieces > max(1, n) {
				return ranges[:i]
			}
		}
	}
	return ranges
}

// ReadAt implements io.ReaderAt. It is optimized for metadata: it reads ahead and keeps some data
// in memory. ReadRanges reads exactly the given ranges.
func (f *File) ReadAt(p []byte, offset int64) (int, error) { return f.ReadAtContext(f.ctx, p, offset) }

// ReadAtContext is like ReadAt with another context.
func (f *File) ReadAtContext(ctx context.Context, p []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, &Error{Op: "read", URL: f.name, Err: errors.New("negative offset")}
	}
	n := int(max(0, min(int64(len(p)), f.info.Size-offset)))
	f.o.Stats.wanted.Add(int64(n))
	if n > 0 && f.objects != nil { // an object is read as a whole
		if err := f.fetch(ctx, []Range{{offset, p[:n]}}); err != nil {
			return 0, err
		}
	} else if n > 0 {
		if err := f.blocks.read(p[:n], offset, f.info.Size,
			func(r Range) error { return f.fetch(ctx, []Range{r}) }); err != nil {
			return 0, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WithContext returns r with another context if it is a File or has a method ReadAtContext like
// File; otherwise it returns r.
func WithContext(ctx context.Context, r io.ReaderAt) io.ReaderAt {
	if c, ok := r.(contextReaderAt); ok {
		return withContext{ctx, c}
	}
	return r
}

type contextReaderAt interface {
	ReadAtContext(ctx context.Context, p []byte, offset int64) (int, error)
}

type withContext struct {
	ctx context.Context
	r   contextReaderAt
}

func (w withContext) ReadAt(p []byte, offset int64) (int, error) {
	return w.r.ReadAtContext(w.ctx, p, offset)
}
