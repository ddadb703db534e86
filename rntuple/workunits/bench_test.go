package workunits_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// BenchmarkMake plans files, on disk and 20 ms away.
func BenchmarkMake(b *testing.B) {
	dir := b.TempDir()
	first := filepath.Join(dir, "0.root")
	w, err := rntuple.Create[event](first, "Events", nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := range int64(1000) {
		if err := w.Write(&event{ID: i, X: float64(i), V: []float32{1}}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	const files = 2000
	paths, urls := []string{first}, []string(nil)
	for i := 1; i < files; i++ {
		path := filepath.Join(dir, fmt.Sprint(i, ".root"))
		if err := os.Link(first, path); err != nil {
			b.Fatal(err)
		}
		paths = append(paths, path)
	}
	server := remotetest.Serve(b, dir)
	link := remotetest.NewLink(b, server.Addr, 10*time.Millisecond, 0)
	for _, path := range paths {
		urls = append(urls, "http://"+link.Addr+"/"+filepath.Base(path))
	}
	for name, paths := range map[string][]string{"disk": paths, "far": urls} {
		b.Run(name, func(b *testing.B) {
			server.Reset()
			for b.Loop() {
				p, err := workunits.Make(b.Context(), paths, &workunits.Options{Count: 100})
				if err != nil {
					b.Fatal(err)
				}
				var text strings.Builder
				if err := p.Write(&text); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(text.Len())/files, "B/file")
			}
			b.ReportMetric(float64(b.N*files)/b.Elapsed().Seconds(), "files/s")
			b.ReportMetric(float64(server.Requests.Load())/float64(b.N*files), "requests/file")
		})
	}
}
