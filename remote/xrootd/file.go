package xrootd

import (
	"context"
	"errors"
	"slices"

	"github.com/go-rntuple/go-rntuple/remote"
)

// ask makes a request whose answer has no bytes of the file, unless it was started as k, and
// returns that.
func (c *conn) ask(ctx context.Context, r *request, k *call, p *progress) ([]byte, error) {
	m := new(message)
	if k != nil {
		m = k.sink.(*message)
	}
	if err := c.run(ctx, r, func() sink { *m = message{}; return m }, k, p); err != nil {
		return nil, err
	}
	return m.data, nil
}

// run waits for the answer of a request that was started as k, or not yet.
func (c *conn) run(ctx context.Context, r *request, to func() sink, k *call, p *progress) error {
	_, err := p.repeat(ctx, r, func() (a answer, err error) {
		if k == nil {
			if k, err = c.start(r, to(), p); err != nil {
				return a, err
			}
		}
		a, err = k.wait(ctx)
		k = nil // if the server asks to wait, the request is started again
		return a, err
	})
	return err
}

// askLimits asks for the limits of vectored reads, once. It does not wait for the answer, which
// comes before that of the next request.
func (c *conn) askLimits() {
	c.asked.Do(func() {
		p := newProgress(0, func(int) {})
		c.start(configRequest(), &limitsSink{conn: c}, p)
	})
}

// A limitsSink takes the limits of a server.
type limitsSink struct {
	message
	conn *conn
}

func (s *limitsSink) complete() error {
	elements, size := parseConfig(s.data)
	s.conn.limits.Store(&limits{elements, size})
	return nil
}

// lower makes vectored reads have fewer elements, and shorter ones.
func (c *conn) lower(elements int) {
	l := *c.limits.Load()
	c.limits.Store(&limits{max(1, min(l.elements, elements)/2), max(min(l.size, 64<<10), l.size/2)})
}

// A part is one of the requests that together read ranges.
type part struct {
	elements []element
	request  *request
	sink     *scatter
	call     *call
}

// read fills ranges, which are in order, and returns how many of the first ones are filled. It
// makes a request for each list of elements at once, and if check is true, another one that asks
// whether the file is the same.
func (f *file) read(ctx context.Context, ranges []remote.Range, requests [][]element, check bool,
	p *progress) (n int, err error) {
	var parts []*part
	for _, elements := range requests {
		t := &part{elements: elements, request: readRequest(f.handle, elements)}
		parts = append(parts, t)
		if t.call, err = f.conn.start(t.request, t.begin(f, ranges), p); err != nil {
			return 0, err
		}
		defer func() { t.call.giveUp() }()
	}
	stat := new(message)
	var properties *call
	if check && !f.noStat.Load() {
		if properties, err = f.conn.start(statRequest(f.handle), stat, p); err != nil {
			return 0, err
		}
		defer properties.giveUp()
	}
	for _, t := range parts {
		again := func() sink { return t.begin(f, ranges) }
		if err = f.conn.run(ctx, t.request, again, t.call, p); err != nil {
			if n = filled(ranges, t.sink.got); n == len(ranges) {
				n = 0 // what came after the last byte was wrong
			}
			err = f.failure(t, err)
			break
		}
		n = filled(ranges, t.elements[len(t.elements)-1].end())
	}
	if properties == nil || !answered(err) {
		return n, err
	}
	if changed := f.unchanged(ctx, stat, properties, p); changed != nil {
		return 0, changed
	}
	return n, err
}

// begin makes the sink of the part.
func (t *part) begin(f *file, ranges []remote.Range) sink {
	from := filled(ranges, t.elements[0].offset)
	t.sink = newScatter(f.handle, t.elements, ranges[from:])
	return t.sink
}

// answered reports whether an error, or none, is an answer of the server rather than the lack of
// one.
func answered(err error) bool {
	return err == nil || codeOf(err) != 0 || errors.Is(err, errShort) || errors.Is(err, remote.ErrTooMany)
}

// failure returns the error of a part: if the server does not take so many elements, it gets fewer
// from then on.
func (f *file) failure(t *part, err error) error {
	tooMany := []int{errArgInvalid, errArgTooLong, errInvalid, errNoMemory, errUnsupported}
	if len(t.elements) > 1 && slices.Contains(tooMany, codeOf(err)) {
		f.conn.lower(len(t.elements))
		return remote.ErrTooMany
	}
	return err
}

// unchanged returns an error if the properties of the file, which were asked for, are other ones
// than when it was opened.
func (f *file) unchanged(ctx context.Context, m *message, k *call, p *progress) error {
	again := func() sink { *m = message{}; return m }
	switch err := f.conn.run(ctx, statRequest(f.handle), again, k, p); codeOf(err) {
	case 0:
		if err != nil {
			return err
		}
	case errArgInvalid, errInvalid, errUnsupported:
		f.noStat.Store(true)
		return nil
	default:
		return err
	}
	now, err := parseStat(cString(m.data))
	if err != nil {
		return err
	}
	return (&file{info: now}).check(f.info)
}
