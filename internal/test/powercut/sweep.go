package powercut

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
)

// An Image is what the disk has under a name after a power cut.
type Image struct {
	Cut    int    // the power was cut after that many operations
	Phase  int    // number of acknowledgements before that
	Exists bool   // there is a file of that name
	Data   []byte // its contents

	ops   []Op // what was not synced
	fates []fate
}

// String says how the image came about.
func (i *Image) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "power cut after operation %d", i.Cut)
	if !i.Exists {
		return b.String() + ", no such file"
	}
	fmt.Fprintf(&b, ", %d bytes, synced but for", len(i.Data))
	if len(i.ops) == 0 {
		b.WriteString(" nothing")
	}
	for n, op := range i.ops {
		fmt.Fprintf(&b, "\n\t%s: %v", describe(op), i.fates[n])
	}
	return b.String()
}

// A Result says what a sweep found.
type Result struct {
	Made    int // images
	Checked int // those that differ
	Failed  int
	// Errors has the errors of the images that failed, the first ones of many.
	Errors []error
}

// maxErrors is the number of errors that are kept.
const maxErrors = 5

// Sweep makes the images of the file at path that power cuts may leave, and calls check for
// each, once if there are equal ones in a phase, from several goroutines.
func (l *Log) Sweep(path string, p Plan, check func(*Image) error) (*Result, error) {
	var (
		r      Result
		mu     sync.Mutex
		wg     sync.WaitGroup
		images = make(chan *Image, 64)
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range images {
				err := check(i)
				if err == nil {
					continue
				}
				mu.Lock()
				if r.Failed++; len(r.Errors) < maxErrors {
					r.Errors = append(r.Errors, fmt.Errorf("%v:\n%w", i, err))
				}
				mu.Unlock()
			}
		})
	}
	err := l.images(path, p, func(i *Image, fresh bool) bool {
		r.Made++
		if fresh {
			r.Checked++
			images <- i
		}
		mu.Lock()
		defer mu.Unlock()
		return p.Failures == 0 || r.Failed < p.Failures
	})
	close(images)
	wg.Wait()
	return &r, err
}

// images calls yield for all images of the file at path, until it returns false. An image
// that is not fresh is equal to an earlier one and has no Data.
func (l *Log) images(path string, p Plan, yield func(i *Image, fresh bool) bool) error {
	rng := rand.New(rand.NewPCG(p.Seed, 0))
	seed := maphash.MakeSeed()
	type key struct {
		phase  int
		exists bool
		hash   uint64
	}
	seen := map[key]bool{}
	var buf []byte
	d, done := l.disk(), 0
	for _, k := range l.cuts(p, rng) {
		for ; done < k; done++ {
			if err := d.do(l.Ops[done]); err != nil {
				return fmt.Errorf("operation %d, %s: %w", done, describe(l.Ops[done]), err)
			}
		}
		for _, f := range d.candidates(path) {
			i := Image{Cut: k, Phase: l.phase(k), Exists: f != nil}
			if f == nil {
				id := key{phase: i.Phase}
				fresh := !seen[id]
				seen[id] = true
				if !yield(&i, fresh) {
					return nil
				}
				continue
			}
			more := true
			p.fates(f.pending, rng, func(fates []fate) bool {
				buf = append(buf[:0], f.durable...)
				for n, op := range f.pending {
					buf = fates[n].apply(buf, op)
				}
				id := key{i.Phase, true, maphash.Bytes(seed, buf)}
				if seen[id] {
					more = yield(&i, false)
					return more
				}
				seen[id] = true
				image := i
				image.Data, image.ops, image.fates = bytes.Clone(buf), f.pending, slices.Clone(fates)
				more = yield(&image, true)
				return more
			})
			if !more {
				return nil
			}
		}
	}
	return nil
}

// cuts returns the numbers of operations after which the power is cut.
func (l *Log) cuts(p Plan, rng *rand.Rand) (cuts []int) {
	n := len(l.Ops) + 1
	if p.Last {
		return []int{n - 1}
	}
	ends := 0 // cuts before a sync or after an acknowledgement
	isEnd := func(k int) bool {
		return k == n-1 || slices.Contains(l.marks, k) || l.Ops[k].Kind == diskfile.SyncOp ||
			l.Ops[k].Kind == diskfile.SyncDirOp
	}
	for k := range n {
		if isEnd(k) {
			ends++
		}
	}
	for k := range n {
		of := n - ends
		if isEnd(k) {
			of = ends
		}
		if p.Cuts == 0 || k == n-1 || rng.IntN(of) < p.Cuts/2 {
			cuts = append(cuts, k)
		}
	}
	return cuts
}
