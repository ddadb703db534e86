package field

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/internal/convert"
	"github.com/go-rntuple/go-rntuple/schema"
)

// converted reads elements of type F into values of another type.
type converted[F column.Element] struct {
	leaf[F]
	convert convert.Func
	path    string
	to      reflect.Type
}

func (c *converted[F]) read(r *run, first, n int64, dst unsafe.Pointer, stride uintptr) error {
	to := convert.Memory{At: dst, Stride: stride}
	for done := int64(0); done < n; {
		elements, err := c.column.Next(r.ctx, r.cluster, first+done, n-done)
		if err != nil {
			return err
		}
		if lost := c.convert(to.Offset(int(done)), convert.Slice(elements), len(elements)); lost >= 0 {
			return &schema.ConversionError{Path: c.path, Value: elements[lost], Go: c.to}
		}
		done += int64(len(elements))
	}
	return nil
}

// convertedOut writes numbers of another kind to a field of type T. Those that T
// cannot hold are an error.
type convertedOut[T column.Element] struct {
	path string
	buffers[T]
	from    reflect.Kind
	convert convert.Func
	scratch [64]T
}

func (c *convertedOut[T]) write(src unsafe.Pointer, n int, stride uintptr) error {
	from := convert.Memory{At: src, Stride: stride}
	for done := 0; done < n; {
		some, rest := min(n-done, len(c.scratch)), from.Offset(done)
		if lost := c.convert(convert.Slice(c.scratch[:]), rest, some); lost >= 0 {
			c.AddAll(c.scratch[:lost])
			return fmt.Errorf("field %q: %w: %v does not fit %T", c.path, column.ErrRange,
				rest.Value(c.from, lost), c.scratch[0])
		}
		c.AddAll(c.scratch[:some])
		done += some
	}
	return nil
}
