package https_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

type event struct{ X int64 }

// emptied makes sure that the folder for temporary files is empty in the end.
func emptied(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v are left in the folder for temporary files, %v", left, err)
		}
	})
}

// entries returns the entries of an RNTuple of events.
func entries(t *testing.T, url string) (all []int64) {
	t.Helper()
	r, err := rntuple.Open(url, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e, err := range rntuple.Entries[event](r) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.X)
	}
	return all
}

// puts counts the requests that write.
func (p *place) puts() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, method := range p.log {
		if method == http.MethodPut {
			n++
		}
	}
	return n
}

func TestWriter(t *testing.T) {
	emptied(t)
	p, base := newPlace(t)
	url := strings.Replace(base, "://", "://user:secret@", 1) + "/events.root"
	write := func(opts *rntuple.WriteOptions) (*rntuple.Writer[event], error) {
		w, err := rntuple.Create[event](url, "Events", opts)
		if err != nil {
			return nil, err
		}
		return w, w.Write(&event{1})
	}
	w, err := write(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil || len(p.files) > 0 {
		t.Errorf("%v, %d files are there", err, len(p.files))
	}
	if w, err = write(nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, url); !slices.Equal(got, []int64{1}) {
		t.Errorf("%v after a checkpoint", got)
	}
	if err := errors.Join(w.Write(&event{2}), w.Close()); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, url); !slices.Equal(got, []int64{1, 2}) || p.puts() != 2 {
		t.Errorf("%v at the end, %d uploads", got, p.puts())
	}
	good := p.files["/events.root"]

	// The file is there.
	if _, err = write(&rntuple.WriteOptions{File: rntuple.FileOptions{NoReplace: true}}); !errors.Is(err, fs.ErrExist) ||
		strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if w, err = write(nil); err == nil {
		err = w.Close()
	}
	if got := entries(t, url); err != nil || !slices.Equal(got, []int64{1}) {
		t.Errorf("%v, %v", got, err)
	}
	p.files["/events.root"] = good
	if _, err := rntuple.UpdateFile(url, nil); !errors.Is(err, errors.ErrUnsupported) ||
		!strings.Contains(err.Error(), "remote files") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if _, err := rntuple.Append[event](url, "Events", nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}

	// An upload fails, or is cancelled.
	p.fault, p.hit = func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusInsufficientStorage) },
		func(int) bool { return p.log[len(p.log)-1] == http.MethodPut }
	if w, err = write(nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "507") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	p.hit = func(int) bool { return false }
	ctx, cancel := context.WithCancel(t.Context())
	if w, err = write(&rntuple.WriteOptions{File: rntuple.FileOptions{Context: ctx}}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := w.Close(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := entries(t, url); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("%v after errors", got)
	}

	in := []surgery.Input{{Path: url, Name: "Events"}, {Path: url, Name: "Events"}}
	if _, err := surgery.Merge(t.Context(), base+"/merged.root", in, nil); err != nil {
		t.Error(err)
	} else if got := entries(t, base+"/merged.root"); !slices.Equal(got, []int64{1, 2, 1, 2}) {
		t.Errorf("merged: %v", got)
	}
	if _, err := surgery.Merge(t.Context(), url, in, nil); err == nil || !strings.Contains(err.Error(), "is an input") ||
		strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if _, err := surgery.Split(t.Context(), base+"/part%d.root", in[0], surgery.PartSize{Entries: 1}, nil); !errors.Is(err,
		errors.ErrUnsupported) {
		t.Error(err)
	}
}
