package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"syscall/js"

	"github.com/go-rntuple/go-rntuple/remote"
)

// blobScheme is that of the URLs of files that the user has chosen.
const blobScheme = "rntblob"

// blobs are the files that were to be opened, by number.
var blobs = struct {
	sync.Mutex
	all  map[string]js.Value
	last int
}{all: map[string]js.Value{}}

func init() {
	remote.Register(blobScheme, func(u *url.URL, _ *remote.Options) (remote.Backend, error) {
		blobs.Lock()
		defer blobs.Unlock()
		b, ok := blobs.all[u.Host]
		if !ok {
			return nil, errors.New("there is no such file")
		}
		delete(blobs.all, u.Host)
		return blob{b}, nil
	})
}

// openBlob returns the parameters of open with the URL of a Blob.
func openBlob(b js.Value, params string) string {
	var p struct {
		URL  string `json:"url"`
		Name string `json:"name"`
	}
	json.Unmarshal([]byte(params), &p) // open says what is wrong
	blobs.Lock()
	defer blobs.Unlock()
	blobs.last++
	host := strconv.Itoa(blobs.last)
	blobs.all[host] = b
	p.URL = blobScheme + "://" + host + "/"
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // two strings
	}
	return string(text)
}

// A blob reads a Blob of JavaScript, as files are.
type blob struct{ js.Value }

func (b blob) Open(_ context.Context, _ int64, arrived func(int)) (remote.Info, error) {
	arrived(0)
	return remote.Info{Size: int64(b.Get("size").Float())}, nil
}

func (b blob) Read(ctx context.Context, _ remote.Info, ranges []remote.Range,
	arrived func(int)) (filled int, err error) {
	return fill(ranges, func(first, end int64) ([]byte, error) {
		buffer, err := await(ctx, b.Call("slice", first, end).Call("arrayBuffer"))
		if err != nil {
			// A file that was changed or deleted cannot be read any more.
			return nil, fmt.Errorf("%w, or cannot be read any more: %w", remote.ErrChanged, err)
		}
		part := make([]byte, end-first)
		if n := js.CopyBytesToGo(part, js.Global().Get("Uint8Array").New(buffer)); n < len(part) {
			return nil, remote.ErrChanged
		}
		arrived(len(part))
		return part, nil
	})
}

func (blob) Ranges() (n int, gap, least int64) { return 1, 32 << 10, 0 }

func (blob) Close() error { return nil }
