package objects_test

import (
	"context"
	"fmt"
	"net/url"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/remote/objects"
)

// A store has objects in memory, by their numbers. Its anchor is not one that package rntuple reads.
type store map[uint64]string

func (s store) Open(_ context.Context, _ int64, arrived func(int)) (remote.Info, error) {
	arrived(0)
	return remote.Info{Size: objects.End, Version: "1"}, nil
}

func (s store) Read(_ context.Context, _ remote.Info, ranges []remote.Range, arrived func(int)) (filled int,
	err error) {
	for i, r := range ranges {
		id := objects.At(r.Offset)
		if len(s[id]) != len(r.Data) {
			return i, fmt.Errorf("object %d has %d bytes, expected %d", id, len(s[id]), len(r.Data))
		}
		arrived(copy(r.Data, s[id]))
	}
	return len(ranges), nil
}

func (s store) ObjectSize(_ context.Context, offset int64, _ func(int)) (int64, error) {
	return int64(len(s[objects.At(offset)])), nil
}

func (s store) Anchor() []byte                    { return []byte("anchor") }
func (s store) Ranges() (n int, gap, least int64) { return 1, 0, 0 }
func (s store) Close() error                      { return nil }

// A package that has a store registers its scheme twice: for its URLs, and as one of objects.
func Example() {
	objects.Register("example")
	remote.Register("example", func(*url.URL, *remote.Options) (remote.Backend, error) {
		return store{7: "a page"}, nil
	})

	ctx := context.Background()
	s, err := remote.OpenObjects(ctx, "example://host/ntuple", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	offset, _ := objects.Offset(7)
	size, err := s.ObjectSize(ctx, offset)
	if err != nil {
		fmt.Println(err)
		return
	}
	page := make([]byte, size)
	_, err = s.ReadAt(page, offset)
	fmt.Printf("%q: %q, %v\n", s.Anchor(), page, err)
	// Output:
	// "anchor": "a page", <nil>
}
