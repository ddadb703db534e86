package xrootd_test

import (
	"fmt"
	"log"

	_ "github.com/go-rntuple/go-rntuple/remote/xrootd"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A file of an XRootD server is opened by its URL.
func Example() {
	r, err := rntuple.Open("root://eospublic.cern.ch//eos/opendata/events.root", "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(r.NumEntries())
}
