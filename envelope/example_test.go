package envelope_test

import (
	"errors"
	"fmt"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A header is written, read, damaged, and read again.
func Example() {
	header := &envelope.Header{Name: "Events", Writer: "example"}
	header.Fields = []envelope.Field{{Name: "pt", TypeName: "float"}}
	header.Columns = []envelope.Column{{Type: column.SplitReal32, Bits: 32}}
	b, err := header.Append(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := envelope.ParseHeader(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(got)
	s, err := schema.Build(got, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(s)

	b[20] ^= 1
	_, err = envelope.ParseHeader(b)
	fmt.Println(errors.Is(err, frame.ErrChecksum))
	// Output:
	// header of "Events" by "example": 1 field, 1 column
	// RNTuple "Events": 1 top-level field, 1 field in all, 1 column
	// written by:  example
	//
	// pt  float  scalar  SplitReal32
	// true
}

// A single record is read with a Codec of package frame.
func ExampleField_Wire() {
	w := frame.NewWriter(nil, "fields")
	for _, name := range []string{"run", "event"} {
		(&envelope.Field{Name: name, TypeName: "std::uint64_t"}).Wire(w)
	}
	b, err := w.Bytes()
	if err != nil {
		fmt.Println(err)
		return
	}
	r := frame.NewReader(b, "fields", 0)
	for r.Left() > 0 && r.Err() == nil {
		var f envelope.Field
		f.Wire(r)
		fmt.Println(f.Name, f.TypeName)
	}
	fmt.Println(r.Err())
	// Output:
	// run std::uint64_t
	// event std::uint64_t
	// <nil>
}
