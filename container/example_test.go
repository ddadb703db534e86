package container_test

import (
	"context"
	"fmt"

	"github.com/go-rntuple/go-rntuple/container"
)

// The objects of a file, with the bytes that each has.
func Example() {
	f, err := container.Open(context.Background(), "../testdata/dimuon.root", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	err = f.Walk(func(dir string, k container.Key) error {
		object, err := f.Object(k)
		fmt.Printf("%s %q;%d in %q: %d bytes\n", k.Class, k.Name, k.Cycle, dir, len(object))
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// ROOT::RNTuple "Events";1 in "": 78 bytes
}
