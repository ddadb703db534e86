package remote_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/go-rntuple/go-rntuple/remote"
	_ "github.com/go-rntuple/go-rntuple/remote/https"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Two columns of a file on a web server are read: it takes one request to open the file, and one
// for the pages.
func Example() {
	server := httptest.NewServer(http.FileServer(http.Dir("../testdata")))
	defer server.Close()

	stats := new(remote.Stats)
	r, err := rntuple.Open(server.URL+"/dimuon.root", "Events", &rntuple.ReadOptions{Remote: remote.Options{Stats: stats}})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	type event struct {
		Run uint32    `rntuple:"run"`
		Pt  []float32 `rntuple:"Muon_pt"`
	}
	muons := 0
	for e, err := range rntuple.Entries[event](r) {
		if err != nil {
			log.Fatal(err)
		}
		muons += len(e.Pt)
	}
	c := stats.Count()
	fmt.Println(muons, "muons of", r.NumEntries(), "events")
	fmt.Println("few requests:", c.Requests <= 4, "and few bytes:", c.Read < c.FileSize/2)
	// Output:
	// 159025 muons of 80000 events
	// few requests: true and few bytes: true
}

// Ranges of any file can be read.
func ExampleFile_ReadRanges() {
	server := httptest.NewServer(http.FileServer(http.Dir("../testdata")))
	defer server.Close()

	f, err := remote.Open(context.Background(), server.URL+"/dimuon.root", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	ranges := []remote.Range{{Offset: 0, Data: make([]byte, 4)}, {Offset: f.Len() - 8, Data: make([]byte, 8)}}
	if err := f.ReadRanges(context.Background(), ranges); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", ranges[0].Data)
	// Output: root
}

// A file on disk is uploaded. An RNTuple can also be created at a URL.
func ExampleUpload() {
	var arrived int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			arrived, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusCreated)
		} else {
			http.NotFound(w, r)
		}
	}))
	defer server.Close()

	file := strings.NewReader("a file")
	err := remote.Upload(context.Background(), server.URL+"/new", file, file.Size(), nil)
	fmt.Println(arrived, err)
	// Output: 6 <nil>
}

// Package rntuple opens URLs of the schemes whose packages a program imports.
func Example_open() {
	r, err := rntuple.Open("https://example.org/data.root", "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
}
