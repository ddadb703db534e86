package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestCancelledWriting makes sure that nothing comes of a file whose context is done
// after the last entry, whoever makes it.
func TestCancelledWriting(t *testing.T) {
	doc := &schema.Document{Fields: []*schema.FieldDocument{{Name: "X", Type: "std::int32_t"}}}
	type entry struct{ X int32 }
	record := &value.Record{Names: []string{"X"}, Values: []any{int32(1)}}
	makers := map[string]func(path string, o *rntuple.WriteOptions) (write, end func() error, err error){
		"Create": func(path string, o *rntuple.WriteOptions) (write, end func() error, err error) {
			w, err := rntuple.Create[entry](path, "n", o)
			return func() error { return w.Write(&entry{1}) }, w.Close, err
		},
		"CreateRecords": func(path string, o *rntuple.WriteOptions) (write, end func() error, err error) {
			w, err := rntuple.CreateRecords(path, "n", doc, o)
			return func() error { return w.Write(record) }, w.Close, err
		},
		"CreateColumns": func(path string, o *rntuple.WriteOptions) (write, end func() error, err error) {
			w, err := rntuple.CreateColumns(path, "n", doc, o)
			return func() error { return errors.Join(rntuple.Put(w, "X", []int32{1}), w.End(1)) }, w.Close, err
		},
		"CreateFile": func(path string, o *rntuple.WriteOptions) (write, end func() error, err error) {
			f, err := rntuple.CreateFile(path, &o.File)
			return func() error { return nil }, f.Close, err
		},
		"UpdateFile": func(path string, o *rntuple.WriteOptions) (write, end func() error, err error) {
			f, err := rntuple.UpdateFile(path, &o.File)
			if err != nil {
				return nil, nil, err
			}
			w, err := rntuple.NewWriter[entry](f, "more", nil)
			return func() error { return w.Write(&entry{1}) }, func() error { return errors.Join(w.Close(), f.Close()) }, err
		},
		"Append": func(path string, o *rntuple.WriteOptions) (write, end func() error, err error) {
			w, err := rntuple.Append[entry](path, "old", o)
			return func() error { return w.Write(&entry{1}) }, w.Close, err
		},
		"AppendRecords": func(path string, o *rntuple.WriteOptions) (write, end func() error, err error) {
			w, err := rntuple.AppendRecords(path, "old", o)
			return func() error { return w.Write(record) }, w.Close, err
		},
	}
	for name, start := range makers {
		path := filepath.Join(t.TempDir(), "f.root")
		var before []byte
		if strings.HasPrefix(name, "Update") || strings.HasPrefix(name, "Append") {
			w, err := rntuple.Create[entry](path, "old", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Write(&entry{7}), w.Close()); err != nil {
				t.Fatal(err)
			}
			before, _ = os.ReadFile(path)
		}
		ctx, cancel := context.WithCancel(t.Context())
		write, end, err := start(path, &rntuple.WriteOptions{File: rntuple.FileOptions{Context: ctx}})
		if err != nil {
			t.Fatal(name, err)
		}
		if err := write(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		if err := end(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: closing after the context is done: %v", name, err)
		}
		after, err := os.ReadFile(path)
		switch {
		case before == nil && !errors.Is(err, os.ErrNotExist):
			t.Errorf("%s: a file is there, %v", name, err)
		case before != nil && len(after) > 0 && !sameRNTuples(t, before, after):
			t.Errorf("%s: the file has changed for its readers", name)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
}

// sameRNTuples reports whether two files list the same RNTuples, with as many
// entries.
func sameRNTuples(t *testing.T, a, b []byte) bool {
	var counts [2][]int64
	for i, file := range [][]byte{a, b} {
		infos, err := rntuple.List(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Error(err)
		}
		for _, info := range infos {
			r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), info.Path, nil)
			if err != nil {
				t.Fatal(err)
			}
			counts[i] = append(counts[i], r.NumEntries())
		}
	}
	return slices.Equal(counts[0], counts[1])
}

// After a checkpoint the file stays as it was there.
func TestCancelledAfterCheckpoint(t *testing.T) {
	type entry struct{ X int32 }
	path := filepath.Join(t.TempDir(), "f.root")
	ctx, cancel := context.WithCancel(t.Context())
	w, err := rntuple.Create[entry](path, "n", &rntuple.WriteOptions{File: rntuple.FileOptions{Context: ctx}})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(&entry{1})
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	w.Write(&entry{2})
	cancel()
	if err := w.Checkpoint(); !errors.Is(err, context.Canceled) {
		t.Errorf("a checkpoint: %v", err)
	}
	if err := w.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("closing: %v", err)
	}
	r, err := rntuple.Open(path, "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.NumEntries() != 1 {
		t.Errorf("%d entries", r.NumEntries())
	}
}

// TestCancelledReading makes sure that loops notice a context that is done within 256
// values, and calls at once, even if all pages are in memory.
func TestCancelledReading(t *testing.T) {
	const entries, bound = 300_000, 256
	type tiny struct {
		X uint8
		V []uint8
	}
	all := make([]tiny, entries)
	for i := range 1000 {
		all[i*100].V = []uint8{1, 2}
	}
	file := bytesOf(t, all...)
	for _, workers := range []int{1, 4} {
		base, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "", &rntuple.ReadOptions{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"reader", "chain", "friends", "match"} {
			source := func() (rntuple.Source, context.CancelFunc) {
				ctx, cancel := context.WithCancel(t.Context())
				r := base.WithContext(ctx)
				switch kind {
				case "reader":
					return r, cancel
				case "chain":
					c, err := rntuple.NewChain([]rntuple.Input{{Source: r}, {Source: r}},
						&rntuple.ReadOptions{Context: ctx, Workers: workers})
					if err != nil {
						t.Fatal(err)
					}
					return c, cancel
				case "friends":
					j, err := rntuple.NewJoin(r, rntuple.Friend("f", r))
					if err != nil {
						t.Fatal(err)
					}
					return j, cancel
				}
				j, err := rntuple.NewJoin(r, rntuple.Match("f", r, "X").ZeroValues())
				if err != nil {
					t.Fatal(err)
				}
				return j, cancel
			}
			fields := "X"
			if kind == "friends" || kind == "match" {
				fields = "f.X"
			}
			for name, loop := range cancelledLoops(fields) {
				for _, k := range []int{1, 1000, entries - 2*bound} {
					src, cancel := source()
					n, err := loop(src, k, cancel)
					if !errors.Is(err, context.Canceled) || n < k || n >= k+bound {
						t.Errorf("%s, %s, %d workers: cancelled after %d values, %d came, %v", kind, name, workers, k, n, err)
					}
				}
			}
			src, cancel := source()
			v, err := rntuple.ViewOf[uint8](src, "X")
			if err != nil {
				t.Fatal(err)
			}
			jagged, err := rntuple.JaggedOf[uint8](src, "V")
			if err != nil {
				t.Fatal(err)
			}
			one, offsets := make([]uint8, 1), make([]int64, 2)
			_, first := v.Read(one, 5)
			_, _, second := jagged.Read(offsets, nil, 5)
			cancel()
			if first != nil || second != nil {
				t.Errorf("%s: %v, %v", kind, first, second)
			}
			if n, err := v.Read(one, 6); n != 0 || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: a value at hand: %d, %v", kind, n, err)
			}
			if _, n, err := jagged.Read(offsets, nil, 6); n != 0 || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: a collection at hand: %d, %v", kind, n, err)
			}
		}
	}
}

// cancelledLoops returns loops that cancel after k values and return how many came
// in all.
func cancelledLoops(field string) map[string]func(s rntuple.Source, k int, cancel func()) (int, error) {
	type own struct{ X uint8 }
	type friend struct {
		X uint8 `rntuple:"f.X"`
	}
	view := func(loop func(iter.Seq2[int64, uint8]), s rntuple.Source) error {
		v, err := rntuple.ViewOf[uint8](s, field)
		if err != nil {
			return err
		}
		loop(v.All())
		return v.Err()
	}
	return map[string]func(s rntuple.Source, k int, cancel func()) (int, error){
		"Entries": func(s rntuple.Source, k int, cancel func()) (int, error) {
			if field == "X" {
				return cancelledEntries[own](s, k, cancel)
			}
			return cancelledEntries[friend](s, k, cancel)
		},
		"All": func(s rntuple.Source, k int, cancel func()) (n int, err error) {
			err = view(func(all iter.Seq2[int64, uint8]) {
				for range all {
					if n++; n == k {
						cancel()
					}
				}
			}, s)
			return n, err
		},
		"RecordsOf": func(s rntuple.Source, k int, cancel func()) (n int, err error) {
			v, err := rntuple.RecordsOf(s, field)
			if err != nil {
				return 0, err
			}
			for range v.All() {
				if n++; n == k {
					cancel()
				}
			}
			return n, v.Err()
		},
		"Batches": func(s rntuple.Source, k int, cancel func()) (n int, err error) {
			for b, err := range rntuple.Batches(s, &rntuple.BatchOptions{Fields: []string{field}, Size: 100}) {
				if err != nil {
					return n, err
				}
				if n += b.Len; n >= k {
					cancel()
				}
			}
			return n, nil
		},
	}
}

func cancelledEntries[T any](s rntuple.Source, k int, cancel func()) (n int, err error) {
	for _, err := range rntuple.Entries[T](s) {
		if err != nil {
			return n, err
		}
		if n++; n == k {
			cancel()
		}
	}
	return n, nil
}

// TestNil checks that a nil entry is an error, which Close returns as well.
func TestNil(t *testing.T) {
	type entry struct{ X int32 }
	doc := &schema.Document{Fields: []*schema.FieldDocument{{Name: "X", Type: "std::int32_t"}}}
	path := filepath.Join(t.TempDir(), "f.root")
	check := func(what string, err, closing error) {
		t.Helper()
		for _, err := range []error{err, closing} {
			if err == nil || !strings.Contains(err.Error(), "entry 1: nil is not an entry") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: there is a file", what)
		}
	}
	for what, write := range map[string]func(*rntuple.Writer[entry]) error{
		"Write":    func(w *rntuple.Writer[entry]) error { return w.Write(nil) },
		"WriteAll": func(w *rntuple.Writer[entry]) error { return w.WriteAll(nil) },
	} {
		w, err := rntuple.Create[entry](path, "n", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write(&entry{1}), w.WriteBatch(nil)); err != nil {
			t.Fatal(err)
		}
		check(what, write(w), w.Close())
	}
	w, err := rntuple.CreateRecords(path, "n", doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(&value.Record{Names: []string{"X"}, Values: []any{int32(1)}})
	check("records", w.Write(nil), w.Close())
}
