package rntgroot

import (
	"fmt"
	"iter"

	"go-hep.org/x/hep/groot/root"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/schema/cpptype"
	"github.com/go-rntuple/go-rntuple/value"
)

// An Object is an object of a class for which groot has no Go type. Its members are those of the
// class, in order; a base class is a member with the name of the base class. The Go types of the
// members are, by their C++ types:
//
//	bool, integers, enums             bool, int8 … uint64; int32
//	float, double, Double32_t …       float32, float64
//	std::string, TString, char*       string
//	arrays of any length              []any
//	vector, list, deque, sets …       []any
//	maps                              value.Map
//	bitset                            value.Bits
//	objects, pointers to objects      *Object or groot's type; null pointers are nil
//
// Pointers to the same object become the same Go value, which may be cyclic.
type Object struct {
	name    string
	version int
	value.Record
}

// Class returns the C++ name of the class.
func (o *Object) Class() string { return o.name }

// RVersion returns the version of the class.
func (o *Object) RVersion() int16 { return int16(o.version) }

var _ root.Object = (*Object)(nil)

// A Decoder decodes objects written by ROOT's streamers. It is safe for concurrent use.
type Decoder struct{ classes classes }

// NewDecoder returns a Decoder for the objects in an RNTuple, based on the streamer information in
// the RNTuple.
func NewDecoder(r *rntuple.Reader) (*Decoder, error) {
	d := &Decoder{classes{}}
	for i, e := range r.Schema().ExtraTypes {
		if e.ContentID != envelope.StreamerInfo {
			continue
		}
		all, err := parseClasses(e.Content)
		if err != nil {
			return nil, fmt.Errorf("RNTuple %q: extra type information %d: %w", r.Name(), i, err)
		}
		for _, k := range all {
			d.classes.add(k)
		}
	}
	return d, nil
}

// Decode decodes data, an object of the given class written by ROOT's streamer. The package
// documentation describes the result.
//
// The error is a *frame.FormatError, with offsets in data. It wraps ErrUnsupported if there is no
// streamer information for the class or groot cannot read the object, and ErrCorrupt if data is
// inconsistent with the streamer information.
func (d *Decoder) Decode(class string, data []byte) (any, error) {
	s := newStream(d.classes, data, "object")
	var v any
	if t, err := cpptype.Parse(class); err == nil && isContainer(t) {
		v = content(t, 0)(s)
	} else {
		v = s.object(class, -1)
	}
	if n := s.c.Left(); n > 0 {
		s.c.Fail("end", frame.Corrupt("%d bytes left", n))
	}
	if err := s.c.Err(); err != nil {
		return nil, err
	}
	return v, nil
}

// Value replaces all streamed bytes in v, a dynamic value of the field f, with objects, at any
// depth of collections and records. It modifies v and returns the result.
func (d *Decoder) Value(f *schema.Field, v any) (any, error) {
	return d.value([]*schema.Field{f}, v)
}

// value is like Value for a value that is read by a path: of the last field of the chain,
// within the fields before it.
func (d *Decoder) value(chain []*schema.Field, v any) (_ any, err error) {
	f := chain[0]
	child := func(i int) []*schema.Field {
		if len(chain) > 1 {
			return chain[1:]
		}
		return f.Children[i : i+1]
	}
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []byte:
		if f.Shape == schema.Streamer {
			o, err := d.Decode(f.TypeName, v)
			if err != nil {
				err = fmt.Errorf("field %q: %w", f.Path(), err)
			}
			return o, err
		}
	case value.Some:
		v.Value, err = d.value(child(0), v.Value)
		return v, err
	case value.Alternative:
		v.Value, err = d.value(child(v.Index), v.Value)
		return v, err
	case value.Map:
		pair := f.Children[0].Children
		for i := range v.Elements {
			e := &v.Elements[i]
			if e.Key, err = d.Value(pair[0], e.Key); err != nil {
				return nil, err
			}
			if e.Value, err = d.Value(pair[1], e.Value); err != nil {
				return nil, err
			}
		}
		return v, nil
	case value.Record:
		if f.Shape == schema.Record && len(chain) == 1 {
			for i := range v.Values {
				if v.Values[i], err = d.value(child(i), v.Values[i]); err != nil {
					return nil, err
				}
			}
			return v, nil
		}
	case []any:
		if f.Shape == schema.Collection || f.Shape == schema.Array || f.IsTuple() && len(chain) == 1 {
			for i := range v {
				at := 0
				if f.IsTuple() {
					at = i
				}
				if v[i], err = d.value(child(at), v[i]); err != nil {
					return nil, err
				}
			}
			return v, nil
		}
	}
	switch {
	case f.Shape == schema.Optional, f.Shape == schema.Wrapper, f.Shape == schema.Record && len(chain) > 1:
		return d.value(child(0), v)
	}
	return v, nil
}

// A View reads a field with its objects. It must be used by one goroutine at a time.
type View[T any] struct {
	path    string
	values  *rntuple.View[any]
	decoder *Decoder
	chain   []*schema.Field
	err     error
}

// ViewOf returns a view of the field at path; see rntuple.ViewOf for paths. Its values are dynamic
// values with objects instead of streamed bytes. For a field of the class TH1D:
//
//	v, err := rntgroot.ViewOf[*rhist.H1D](r, "h")
//
// T is the type of all values: *rhist.H1D, *Object, []any, value.Record …; any and
// root.Object fit several types.
func ViewOf[T any](r *rntuple.Reader, path string) (*View[T], error) {
	chain, err := r.Schema().Lookup(path)
	if err != nil {
		return nil, err
	}
	values, err := rntuple.ViewOf[any](r, path)
	if err != nil {
		return nil, err
	}
	d, err := NewDecoder(r)
	if err != nil {
		return nil, err
	}
	return &View[T]{path: path, values: values, decoder: d, chain: chain}, nil
}

// At returns the value of one entry.
func (v *View[T]) At(entry int64) (T, error) {
	x, err := v.values.At(entry)
	if err != nil {
		var zero T
		return zero, err
	}
	return v.decode(entry, x)
}

// All yields the index and the value of every entry. An error ends the loop; Err returns it.
func (v *View[T]) All() iter.Seq2[int64, T] {
	return func(yield func(int64, T) bool) {
		v.err = nil
		for entry, x := range v.values.All() {
			t, err := v.decode(entry, x)
			if err != nil {
				v.err = err
				return
			}
			if !yield(entry, t) {
				return
			}
		}
		v.err = v.values.Err()
	}
}

// Err returns the error that ended the last loop over All, or nil if there was none.
func (v *View[T]) Err() error { return v.err }

func (v *View[T]) decode(entry int64, x any) (t T, err error) {
	if x, err = v.decoder.value(v.chain, x); err != nil {
		return t, fmt.Errorf("entry %d: %w", entry, err)
	}
	t, ok := x.(T)
	if !ok && x != nil {
		return t, fmt.Errorf("entry %d: field %q is a %T, not a %T", entry, v.path, x, t)
	}
	return t, nil
}
