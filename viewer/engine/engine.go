package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// An Engine answers requests. It is safe for concurrent use.
type Engine struct {
	// GiveWay, if it is set, is called now and then while a request computes, so that others get a
	// turn.
	GiveWay func()

	mu   sync.Mutex
	file *file // nil if none is open
}

// Bytes are parts of an answer that are not JSON, by the name of the member.
type Bytes map[string][]byte

// An Answer is what a method returns, or reports meanwhile.
type Answer struct {
	JSON  any
	Bytes Bytes
}

// A call is a request that is being answered.
type call struct {
	ctx      context.Context
	params   json.RawMessage
	progress func(Answer)
	giveWay  func()
}

// parse stores the parameters in the struct that to points to.
func (c *call) parse(to any) error {
	if len(c.params) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.params, to); err != nil {
		return invalid("the parameters: %w", err)
	}
	return nil
}

// Progress is how much of a request is done.
type Progress struct {
	Done  Int    `json:"done"`
	Total Int    `json:"total"`
	Unit  string `json:"unit"`
}

// report reports progress, and gives way.
func (c *call) report(done, total int64, unit string) {
	if c.progress != nil {
		c.progress(Answer{JSON: Progress{Int(done), Int(total), unit}})
	}
	if c.giveWay != nil {
		c.giveWay()
	}
}

// methods are those that need an open file.
var methods = map[string]func(*file, *call) (Answer, error){
	"schema":    (*file).schema,
	"rows":      (*file).rows,
	"histogram": (*file).histogram,
	"storage":   (*file).storage,
	"records":   (*file).records,
	"record":    (*file).record,
	"verify":    (*file).verify,
	"download":  (*file).download,
	"stats":     (*file).statistics,
}

// Do answers a request. It calls progress, which may be nil, with what is to be known before; calls
// do not overlap. The error is one for ErrorOf. It is that of ctx, or one of a file that another
// request has replaced, if that ends the request.
func (e *Engine) Do(ctx context.Context, method string, params json.RawMessage, progress func(Answer)) (Answer, error) {
	c := &call{ctx: ctx, params: params, progress: progress, giveWay: e.GiveWay}
	if method == "open" {
		return caught(method, func() (Answer, error) { return e.open(c) })
	}
	do := methods[method]
	if do == nil {
		return Answer{}, invalid("there is no method %q", method)
	}
	f, err := e.current()
	if err != nil {
		return Answer{}, err
	}
	defer f.use.Done()
	var stop func()
	c.ctx, stop = f.during(ctx)
	defer stop()
	a, err := caught(method, func() (Answer, error) { return do(f, c) })
	if err != nil && f.ctx.Err() != nil {
		err = context.Cause(f.ctx)
	}
	return a, err
}

// caught returns the result of f, or an error for a panic in it, which is logged.
func caught(method string, f func() (Answer, error)) (a Answer, err error) {
	defer func() {
		if value := recover(); value != nil {
			log.Printf("%s: %v\n%s", method, value, debug.Stack())
			err = fmt.Errorf("internal error in %s; the log says more", method)
		}
	}()
	return f()
}

// Int is a number that is a string of digits in JSON if JavaScript cannot hold it.
type Int int64

// MarshalJSON implements json.Marshaler.
func (i Int) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt(nil, int64(i), 10)
	if i < -1<<53 || i > 1<<53 {
		b = append(append([]byte{'"'}, b...), '"')
	}
	return b, nil
}

// An invalidError says what is wrong with a request.
type invalidError struct{ error }

func (e invalidError) Unwrap() error { return e.error }

func invalid(format string, args ...any) error { return invalidError{fmt.Errorf(format, args...)} }

// errReplaced ends the requests for a file when another one is opened.
var errReplaced = fmt.Errorf("another file was opened: %w", context.Canceled)

// An Error describes an error for the page.
type Error struct {
	// Kind is corrupt, checksum, unsupported, notfound, network, cancelled, invalid, of an
	// expression or another parameter, or internal.
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Path    string `json:"path,omitempty"`   // the part of the file that is at fault
	Offset  *Int   `json:"offset,omitempty"` // in the file, or in the envelope that Path begins with
}

// ErrorOf returns what the page is told of an error, which is not nil.
func ErrorOf(err error) *Error {
	e := &Error{Kind: "internal", Message: err.Error()}
	var format *frame.FormatError
	if errors.As(err, &format) {
		e.Path = format.Path
		if format.Offset >= 0 {
			offset := Int(format.Offset)
			e.Offset = &offset
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		e.Kind = "cancelled"
	case errors.Is(err, rntuple.ErrChecksum):
		e.Kind = "checksum"
	case errors.Is(err, rntuple.ErrCorrupt):
		e.Kind = "corrupt"
	case errors.Is(err, rntuple.ErrUnsupported):
		e.Kind = "unsupported"
	case errors.Is(err, rntuple.ErrNotFound):
		e.Kind = "notfound"
	case errors.As(err, new(*remote.Error)):
		e.Kind = "network"
	case errors.As(err, new(invalidError)), errors.As(err, new(*expression.Error)), errors.Is(err, rntuple.ErrNoField),
		errors.Is(err, rntuple.ErrRange):
		e.Kind = "invalid"
	}
	return e
}
