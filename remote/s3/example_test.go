package s3_test

import (
	"fmt"
	"log"

	_ "github.com/go-rntuple/go-rntuple/remote/s3" // s3
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// An RNTuple is read from one bucket, with the credentials that the environment has, and another
// one is written to a second bucket.
func Example() {
	type event struct {
		Run uint32 `rntuple:"run"`
	}
	r, err := rntuple.Open("s3://bucket/events.root", "Events", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	w, err := rntuple.Create[event]("s3://other/runs.root", "Runs", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort()
	for e, err := range rntuple.Entries[event](r) {
		if err != nil {
			log.Fatal(err)
		}
		if err := w.Write(e); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil { // uploads it
		log.Fatal(err)
	}
	fmt.Println(r.NumEntries(), "entries were copied")
}
