package field

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A time.Time is a number of units since the Unix epoch in an RNTuple, of which
// the type is std::int64_t if the tag does not say otherwise.

var (
	timeType  = reflect.TypeFor[time.Time]()
	int64Type = reflect.TypeFor[int64]()
)

// errTimeKey says why Go maps with times as keys are not written.
var errTimeKey = errors.New("a time.Time cannot be the key of a map: equal times may differ as keys")

// units are those that the option "time" of a tag can name.
var units = map[string]time.Duration{"ns": time.Nanosecond, "us": time.Microsecond,
	"ms": time.Millisecond, "s": time.Second}

// timeDescription returns the description of fields of times in a unit.
func timeDescription(unit time.Duration) string {
	name := map[time.Duration]string{time.Microsecond: "microseconds", time.Millisecond: "milliseconds",
		time.Second: "seconds"}[unit]
	return cmp.Or(name, "nanoseconds") + " since 1970-01-01 UTC"
}

// clock converts times to numbers of a unit since the Unix epoch, and back.
type clock struct{ unit time.Duration }

func newClock(unit time.Duration) clock { return clock{max(unit, time.Nanosecond)} }

// number returns the last number of units that is not after t. It is not ok if an
// int64 does not hold it.
func (c clock) number(t time.Time) (n int64, ok bool) {
	perSecond := int64(time.Second / c.unit)
	part := int64(t.Nanosecond()) / int64(c.unit)
	n = t.Unix()*perSecond + part // modulo 2^64, which only the right time survives
	back := c.time(n)
	return n, back.Unix() == t.Unix() && int64(back.Nanosecond())/int64(c.unit) == part
}

// time returns the time of a number of units, in UTC.
func (c clock) time(n int64) time.Time {
	perSecond := int64(time.Second / c.unit)
	return time.Unix(n/perSecond, n%perSecond*int64(c.unit)).UTC()
}

// maxSeconds is far less than what a time.Time can hold, and more than the age of
// the universe in any unit.
const maxSeconds = 1 << 62

// time compiles reading integers as times.
func (c *compiler) time(f *schema.Field) node {
	f, ok := countOf(f)
	if !ok {
		return c.mismatch(f, timeType)
	}
	return &times{clock: newClock(c.unit), inner: scalars[f.ElementKind()].reader(c, f, int64Type), path: f.Path()}
}

// countOf returns the field that f wraps, or f. It is ok if its values are integers, of which
// times are made.
func countOf(f *schema.Field) (_ *schema.Field, ok bool) {
	for f.Shape == schema.Wrapper {
		f = f.Children[0]
	}
	return f, f.Shape == schema.Scalar && f.Kind().IsInteger()
}

// times reads integers as times.
type times struct {
	clock
	inner   node // reads them into int64s
	path    string
	scratch [512]int64
}

func (t *times) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	for done := int64(0); done < n; {
		some := t.scratch[:min(n-done, int64(len(t.scratch)))]
		if err := t.inner.read(r, first+done, int64(len(some)), unsafe.Pointer(&some[0]),
			unsafe.Sizeof(some[0])); err != nil {
			return err
		}
		for i, v := range some {
			if t.unit == time.Second && (v > maxSeconds || v < -maxSeconds) {
				return &schema.ConversionError{Path: t.path, Value: v, Go: timeType}
			}
			*(*time.Time)(unsafe.Add(dst, uintptr(done+int64(i))*stride)) = t.time(v)
		}
		done += int64(len(some))
	}
	return nil
}

// time compiles writing times to integers.
func (c *writeCompiler) time(f *schema.Field) out {
	f, ok := countOf(f)
	if !ok {
		return c.mismatch(f, timeType)
	}
	return &timesOut{newClock(c.unit), scalars[f.ElementKind()].writer(c, f, int64Type), f.Path()}
}

// timesOut writes times as integers.
type timesOut struct {
	clock
	inner out // takes int64s
	path  string
}

func (t *timesOut) write(src unsafe.Pointer, n int, stride uintptr) error {
	for i := range n {
		at := *(*time.Time)(unsafe.Add(src, uintptr(i)*stride))
		v, ok := t.number(at)
		if !ok {
			return fmt.Errorf("field %q: %w: %v is not within the 2^64 times of a unit of %v around 1970", t.path,
				column.ErrRange, at, t.unit)
		}
		if err := t.inner.write(unsafe.Pointer(&v), 1, unsafe.Sizeof(v)); err != nil {
			return err
		}
	}
	return nil
}
