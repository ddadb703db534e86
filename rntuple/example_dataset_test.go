package rntuple_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

type (
	exampleEvent struct {
		Run uint32  `rntuple:"run"`
		Pt  float32 `rntuple:"pt"`
	}
	exampleRun struct {
		Run   uint32  `rntuple:"run"`
		Field float64 `rntuple:"field"`
	}
)

// exampleFiles writes two files of events and one of runs.
func exampleFiles() (dir string) {
	dir, err := os.MkdirTemp("", "rntuple")
	if err != nil {
		log.Fatal(err)
	}
	exampleFile(filepath.Join(dir, "a.root"), exampleEvent{1, 10}, exampleEvent{2, 20})
	exampleFile(filepath.Join(dir, "b.root"), exampleEvent{3, 30})
	exampleFile(filepath.Join(dir, "runs.root"), exampleRun{3, 3.8}, exampleRun{1, 0})
	return dir
}

func exampleFile[T any](path string, entries ...T) {
	w, err := rntuple.Create[T](path, "set", nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := w.WriteBatch(entries); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
}

func ExampleOpenChain() {
	dir := exampleFiles()
	defer os.RemoveAll(dir)
	chain, err := rntuple.OpenChain("set", []string{filepath.Join(dir, "a.root"), filepath.Join(dir, "b.root")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer chain.Close()
	for ev, err := range rntuple.Entries[exampleEvent](chain) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ev.Run, ev.Pt)
	}
	// Output:
	// 1 10
	// 2 20
	// 3 30
}

func ExampleNewJoin() {
	dir := exampleFiles()
	defer os.RemoveAll(dir)
	paths := []string{filepath.Join(dir, "a.root"), filepath.Join(dir, "b.root")}
	runs, err := rntuple.Open(filepath.Join(dir, "runs.root"), "set", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer runs.Close()

	events, err := rntuple.OpenChain("set", paths, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer events.Close()
	join, err := rntuple.NewJoin(events, rntuple.Match("runs", runs, "run"))
	if err != nil {
		log.Fatal(err)
	}
	type event struct {
		Run   uint32   `rntuple:"run"`
		Pt    float32  `rntuple:"pt"`
		Field *float64 `rntuple:"runs.field"` // nil for a run that is not there
	}
	for ev, err := range rntuple.Entries[event](join) {
		if err != nil {
			log.Fatal(err)
		}
		if ev.Field != nil {
			fmt.Println("run", ev.Run, "had", *ev.Field, "T")
		}
	}
	// Output:
	// run 1 had 0 T
	// run 3 had 3.8 T
}

func ExampleFriend() {
	dir := exampleFiles()
	defer os.RemoveAll(dir)
	type weight struct{ Weight float64 }
	exampleFile(filepath.Join(dir, "weights.root"), weight{0.5}, weight{0.25})
	events, err := rntuple.Open(filepath.Join(dir, "a.root"), "set", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer events.Close()
	weights, err := rntuple.Open(filepath.Join(dir, "weights.root"), "set", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer weights.Close()
	join, err := rntuple.NewJoin(events, rntuple.Friend("mc", weights))
	if err != nil {
		log.Fatal(err)
	}
	type event struct {
		Pt     float64 `rntuple:"pt"`
		Weight float64 `rntuple:"mc.Weight"`
	}
	for ev, err := range rntuple.Entries[event](join) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ev.Pt * ev.Weight)
	}
	// Output:
	// 5
	// 5
}
