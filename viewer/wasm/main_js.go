package main

import (
	"context"
	"encoding/json"
	"sync"
	"syscall/js"
	"time"

	"github.com/go-rntuple/go-rntuple/viewer/engine"
)

// host is what load.js has for us: see there.
var host = js.Global().Get("rntupleHost")

func main() {
	s := &server{engine: &engine.Engine{}, running: map[string]context.CancelFunc{}}
	s.engine.GiveWay = s.giveWay
	host.Call("start", js.FuncOf(s.request), js.FuncOf(s.cancel))
	select {}
}

// A server answers requests.
type server struct {
	engine *engine.Engine

	mu      sync.Mutex
	running map[string]context.CancelFunc // by the text of the request's number

	way    sync.Mutex
	gaveAt time.Time
}

// request begins to answer a request: its number, its method, its parameters as JSON, and the Blob
// to open or undefined.
func (s *server) request(_ js.Value, args []js.Value) any {
	id, method, params := args[0], args[1].String(), args[2].String()
	key := keyOf(id)
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	s.running[key] = cancel
	s.mu.Unlock()
	if blob := args[3]; method == "open" && !blob.IsUndefined() {
		params = openBlob(blob, params)
	}
	go func() {
		a, err := s.engine.Do(ctx, method, json.RawMessage(params), func(a engine.Answer) { send(id, "progress", a) })
		s.mu.Lock()
		delete(s.running, key)
		s.mu.Unlock()
		cancel()
		if err != nil {
			send(id, "error", engine.Answer{JSON: engine.ErrorOf(err)})
		} else {
			send(id, "result", a)
		}
	}()
	return nil
}

// keyOf returns the number of a request as text.
func keyOf(id js.Value) string { return js.Global().Get("String").Invoke(id).String() }

// cancel ends a request.
func (s *server) cancel(_ js.Value, args []js.Value) any {
	s.mu.Lock()
	cancel := s.running[keyOf(args[0])]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	return nil
}

// send posts an answer.
func send(id js.Value, member string, a engine.Answer) {
	text, err := json.Marshal(a.JSON)
	if err != nil {
		member = "error"
		text, _ = json.Marshal(engine.ErrorOf(err))
	}
	bytes := js.Global().Get("Object").New()
	for name, b := range a.Bytes {
		to := js.Global().Get("Uint8Array").New(len(b))
		js.CopyBytesToJS(to, b)
		bytes.Set(name, to)
	}
	host.Call("answer", id, member, string(text), bytes)
}

// between is how long a request computes before others get a turn.
const between = 30 * time.Millisecond

// giveWay lets the worker take messages.
func (s *server) giveWay() {
	s.way.Lock()
	defer s.way.Unlock()
	if time.Since(s.gaveAt) > between {
		await(context.Background(), host.Call("turn"))
		s.gaveAt = time.Now()
	}
}

// await returns what a promise becomes: its value and nil, or undefined and an error. If ctx is
// done before, the error is that of ctx.
func await(ctx context.Context, promise js.Value) (js.Value, error) {
	type outcome struct {
		value js.Value
		err   error
	}
	done := make(chan outcome, 1)
	var kept, failed js.Func
	release := func() {
		kept.Release()
		failed.Release()
	}
	kept = js.FuncOf(func(_ js.Value, args []js.Value) any {
		release()
		done <- outcome{value: args[0]}
		return nil
	})
	failed = js.FuncOf(func(_ js.Value, args []js.Value) any {
		release()
		done <- outcome{err: js.Error{Value: args[0]}}
		return nil
	})
	promise.Call("then", kept, failed)
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return js.Undefined(), context.Cause(ctx)
	}
}
