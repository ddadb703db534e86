package pagesource

import (
	"context"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/remote"
)

// A slowFile has one request under way at a time, of one piece, and answers when it is told to.
type slowFile struct {
	asked chan []remote.Range
	may   chan struct{}
}

func (f slowFile) Costs() remote.Costs {
	return remote.Costs{Ranges: 1, Bytes: 1 << 20, Requests: 1}
}

func (f slowFile) ReadAt(p []byte, _ int64) (int, error) { return len(p), nil }

func (f slowFile) ReadRanges(_ context.Context, ranges []remote.Range) error {
	f.asked <- ranges
	<-f.may
	return nil
}

// TestDropBeforeRequest drops pages whose request waits for another one: it must not have more ranges than
// Costs says, and pages at its ends are not read.
func TestDropBeforeRequest(t *testing.T) {
	const n = 100 // bytes of a page
	for _, test := range []struct{ drop, want []int }{
		{nil, []int{1, 2, 3, 4, 5}},
		{[]int{1, 2}, []int{3, 4, 5}},
		{[]int{5}, []int{1, 2, 3, 4}},
		{[]int{3}, []int{1, 2, 3, 4, 5}},
		{[]int{2, 4, 1}, []int{3, 4, 5}},
		{[]int{3, 1, 5, 4}, []int{2}},
		{[]int{2, 3, 4, 5, 1}, nil},
	} {
		file := slowFile{make(chan []remote.Range), make(chan struct{})}
		blobs := &Blobs{R: file, Size: 1 << 20, MaxPage: 1 << 20}
		f := blobs.newFetch(1 << 20)
		plan := func(pages ...int) []*blob {
			var all []storedPage
			for _, p := range pages {
				page := envelope.Page{NumElements: n, Locator: locator.At(uint64(p*n), n)}
				all = append(all, storedPage{column.Format{Type: column.Byte, Bits: 8}, page})
			}
			return f.plan(t.Context(), all)
		}
		first := plan(1000)
		<-file.asked
		planned := plan(1, 2, 3, 4, 5)
		for _, p := range test.drop {
			f.drop(planned[p-1])
			planned[p-1] = nil
		}
		file.may <- struct{}{}
		var got []int
		if test.want != nil {
			for _, r := range <-file.asked {
				got = append(got, int(r.Offset/n))
			}
			file.may <- struct{}{}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("without %d: pages %d are read, want %d", test.drop, got, test.want)
		}
		for _, b := range append(planned, first...) {
			if b != nil {
				<-b.request.done
				f.drop(b)
			}
		}
		f.mu.Lock()
		if len(f.blobs) > 0 || len(f.queue) > 0 || f.planned != 0 || f.held != 0 {
			t.Errorf("without %d: %d blobs, %d requests, %d bytes planned, %d held in the end", test.drop, len(f.blobs), len(f.queue), f.planned, f.held)
		}
		f.mu.Unlock()
	}
}
