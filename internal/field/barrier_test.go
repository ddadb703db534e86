package field_test

import (
	"reflect"
	"runtime"
	"testing"
	"unsafe"
	"weak"

	"github.com/go-rntuple/go-rntuple/internal/field"
)

// TestGatherWhileCollecting copies pointers while the garbage collector runs. It must be told of
// them: memory that was allocated meanwhile counts as looked at, and where they come from is gone
// when it looks there. What is not told is lost most times, not always.
func TestGatherWhileCollecting(t *testing.T) {
	g, err := field.NewGather([]field.Member{{Name: "P", Type: reflect.TypeFor[*[2]int64]()}}, true)
	if err != nil {
		t.Fatal(err)
	}
	type item struct {
		p    *[2]int64
		next *item
	}
	const n, nth = 40_000, 10
	var at [16]int32 // many copies, so that the list lasts until the collector has begun
	copies := make([]*[len(at)]*[2]int64, n)
	var alive [n / nth]weak.Pointer[[2]int64]
	for range 4 {
		var list *item // nothing but the stack holds it
		for i := range n {
			list = &item{new([2]int64), list}
			if i%nth == 0 {
				alive[i/nth] = weak.Make(list.p)
			}
		}
		begun, done := make(chan bool), make(chan bool)
		go func() {
			close(begun)
			runtime.GC()
			close(done)
		}()
		<-begun
		for i := range copies {
			copies[i] = new([len(at)]*[2]int64)
			g.Copy(unsafe.Pointer(copies[i]), unsafe.Sizeof(list.p), at[:], unsafe.Pointer(list))
			list = list.next
		}
		<-done
		lost := 0
		for _, p := range alive {
			if p.Value() == nil {
				lost++
			}
		}
		if lost > 0 {
			t.Fatalf("%d of %d values are garbage", lost, len(alive))
		}
		runtime.KeepAlive(copies)
		clear(copies)
	}
}
