package surgery_test

import (
	"bytes"
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/go-rntuple/go-rntuple/remote/https"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// TestFar makes outputs of files that a server sends, and of the same ones on disk: they have the
// same bytes. There are few requests.
func TestFar(t *testing.T) {
	type record struct{ A, B uint8 }
	type entry struct {
		ID int64
		X  float32
		V  []float32
		W  [][]int16
		S  string
		R  record
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "in.root")
	const n, clusters = 300_000, 30
	w, err := rntuple.Create[entry](path, "Events", &rntuple.WriteOptions{MaxUnzippedPageSize: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(n) {
		e := entry{ID: i, X: math.Float32frombits(uint32(i * 2654435761)), S: "entry"[:i%6], R: record{uint8(i), 1}}
		for j := range i % 4 {
			e.V = append(e.V, math.Float32frombits(uint32((i+j)*40503)))
			e.W = append(e.W, make([]int16, j))
		}
		w.Write(&e)
		if (i+1)%(n/clusters) == 0 {
			w.CommitCluster()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var requests, sent atomic.Int64
	files := http.FileServer(http.Dir(dir))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		t.Log(r.Header.Get("Range"))
		files.ServeHTTP(&counted{w, &sent}, r)
	}))
	defer s.Close()
	fixed := surgery.Options{Write: rntuple.WriteOptions{File: rntuple.FileOptions{Clock: func() time.Time { return time.Unix(1e9, 0) }}}}
	where := func(text string) rntuple.Condition {
		e, err := expression.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return e.Condition()
	}
	for name, op := range map[string]struct {
		most int64 // requests
		do   func(ctx context.Context, out, in string) error
	}{
		"merge": {6, func(ctx context.Context, out, in string) error {
			_, err := surgery.Merge(ctx, out, []surgery.Input{{Path: in}, {Path: in}}, &surgery.MergeOptions{Options: fixed})
			return err
		}},
		"slim": {6, func(ctx context.Context, out, in string) error {
			_, err := surgery.Slim(ctx, out, surgery.Input{Path: in},
				&surgery.SlimOptions{Options: fixed, Keep: []string{"X", "V"}})
			return err
		}},
		"skim, few": {12, func(ctx context.Context, out, in string) error {
			_, err := surgery.Skim(ctx, out, []surgery.Input{{Path: in}}, where("ID % 1000 == 17"),
				&surgery.SkimOptions{Options: fixed})
			return err
		}},
		"skim, ranges": {16, func(ctx context.Context, out, in string) error {
			_, err := surgery.Skim(ctx, out, []surgery.Input{{Path: in}}, where("ID % 9000 < 5000"),
				&surgery.SkimOptions{Options: fixed})
			return err
		}},
		"repack": {6, func(ctx context.Context, out, in string) error {
			_, err := surgery.Repack(ctx, out, surgery.Input{Path: in}, &surgery.RepackOptions{Options: fixed})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			requests.Store(0)
			sent.Store(0)
			sameBytes(t, []string{path, s.URL + "/in.root"}, op.do)
			t.Logf("%d requests, %d bytes", requests.Load(), sent.Load())
			if requests.Load() > op.most {
				t.Errorf("%d requests, want %d at most", requests.Load(), op.most)
			}
		})
	}
}

// sameBytes makes a file of each of two inputs, which must have the same bytes.
func sameBytes(t *testing.T, inputs []string, do func(ctx context.Context, out, in string) error) {
	t.Helper()
	var outputs [2][]byte
	for i, in := range inputs {
		out := filepath.Join(t.TempDir(), "out.root")
		if err := do(t.Context(), out, in); err != nil {
			t.Fatal(in, err)
		}
		var err error
		if outputs[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	for _, uuid := range [][2]int{{47, 63}, {184, 200}} {
		copy(outputs[1][uuid[0]:uuid[1]], outputs[0][uuid[0]:])
	}
	if !bytes.Equal(outputs[0], outputs[1]) {
		t.Errorf("%d bytes from far away, %d from disk, and not the same ones", len(outputs[1]), len(outputs[0]))
	}
}

// TestFarFiles copies and rewrites each RNTuple of testdata as a server sends it.
func TestFarFiles(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "good")
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer s.Close()
	files, err := filepath.Glob(filepath.Join(dir, "*.root"))
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	fixed := surgery.Options{Write: rntuple.WriteOptions{File: rntuple.FileOptions{Clock: func() time.Time { return time.Unix(1e9, 0) }}}}
	done := 0
	for _, path := range files {
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			for name, do := range map[string]func(ctx context.Context, out string, in surgery.Input) error{
				"merge": func(ctx context.Context, out string, in surgery.Input) error {
					_, err := surgery.Merge(ctx, out, []surgery.Input{in, in}, &surgery.MergeOptions{Options: fixed})
					return err
				},
				"repack": func(ctx context.Context, out string, in surgery.Input) error {
					_, err := surgery.Repack(ctx, out, in, &surgery.RepackOptions{Options: fixed})
					return err
				},
			} {
				if do(t.Context(), filepath.Join(t.TempDir(), "out.root"), surgery.Input{Path: path, Name: info.Path}) != nil {
					continue // of a format that is only read, and the like
				}
				done++
				t.Run(name+" "+filepath.Base(path), func(t *testing.T) {
					sameBytes(t, []string{path, s.URL + "/" + filepath.Base(path)}, func(ctx context.Context, out, in string) error {
						return do(ctx, out, surgery.Input{Path: in, Name: info.Path})
					})
				})
			}
		}
	}
	if done < 2*len(files)-20 {
		t.Errorf("%d operations on %d files", done, len(files))
	}
}

type counted struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c *counted) Write(p []byte) (int, error) {
	c.sent.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}
