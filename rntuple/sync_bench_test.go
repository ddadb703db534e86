package rntuple_test

import (
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// BenchmarkSync measures what syncs cost: for a file of a thousand entries, for adding as
// many to it, and for a checkpoint of ten.
func BenchmarkSync(b *testing.B) {
	type event struct{ X, Y float64 }
	fill := func(b *testing.B, w *rntuple.Writer[event], err error, n int) *rntuple.Writer[event] {
		for i := range n {
			if err == nil {
				err = w.Write(&event{float64(i), float64(n)})
			}
		}
		if err != nil {
			b.Fatal(err)
		}
		return w
	}
	for _, sync := range []struct {
		name string
		on   bool
	}{{"on", true}, {"off", false}} {
		option := &rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: !sync.on}}
		b.Run("create/sync="+sync.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "f.root")
			for b.Loop() {
				w, err := rntuple.Create[event](path, "n", option)
				if err := fill(b, w, err, 1000).Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("append/sync="+sync.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "f.root")
			w, err := rntuple.Create[event](path, "n", option)
			if err := fill(b, w, err, 1000).Close(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				w, err := rntuple.Append[event](path, "n", option)
				if err := fill(b, w, err, 1000).Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("checkpoint/sync="+sync.name, func(b *testing.B) {
			w, err := rntuple.Create[event](filepath.Join(b.TempDir(), "f.root"), "n", option)
			for b.Loop() {
				if err := fill(b, w, err, 10).Checkpoint(); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
