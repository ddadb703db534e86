package https_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	_ "github.com/go-rntuple/go-rntuple/remote/https"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A file of a web server is opened by its URL.
func Example() {
	server := httptest.NewServer(http.FileServer(http.Dir("../../testdata")))
	defer server.Close()

	r, err := rntuple.Open(server.URL+"/dimuon.root", "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(r.NumEntries(), "entries")
	// Output:
	// 80000 entries
}
