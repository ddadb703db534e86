package rntuple_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// reread writes a dynamic value of a C++ type and returns what is read back.
func reread(t *testing.T, typ string, v any) (any, error) {
	t.Helper()
	f, err := schema.FieldOf("x", typ)
	if err != nil {
		t.Fatal(err)
	}
	var m memory
	out, err := rntuple.NewFile(&m, "x.root", fixed)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewRecordWriter(out, "n", &schema.Document{Fields: []*schema.FieldDocument{f}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&value.Record{Names: []string{"x"}, Values: []any{v}}); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := rntuple.NewReader(bytes.NewReader(m.b), int64(len(m.b)), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	view, err := rntuple.ViewOf[any](r, "x")
	if err != nil {
		t.Fatal(err)
	}
	return view.At(0)
}

// TestDynamicValues writes values of optionals and variants in every form that
// writers take.
func TestDynamicValues(t *testing.T) {
	const (
		optOpt    = "std::optional<std::optional<std::int32_t>>"
		pointers  = "std::unique_ptr<std::unique_ptr<std::unique_ptr<std::string>>>"
		optVar    = "std::optional<std::variant<std::int32_t,bool>>"
		varOpt    = "std::variant<bool,std::optional<std::int32_t>>"
		numbers   = "std::variant<std::int32_t,std::int32_t,double>"
		lists     = "std::variant<std::vector<float>,std::vector<double>>"
		varVar    = "std::variant<std::int32_t,std::variant<float,std::string>>"
		bothNames = "std::variant<std::string,std::variant<float,std::string>>"
	)
	some := func(v any) any { return value.Some{Value: v} }
	alt := func(i int, v any) any { return value.Alternative{Index: i, Value: v} }
	list := func(v ...any) []any { return v }
	for _, test := range []struct {
		typ         string
		write, read any
	}{
		{optOpt, nil, nil}, {optOpt, some(nil), some(nil)}, {optOpt, int32(5), int32(5)},
		{optOpt, some(int32(5)), int32(5)}, {optOpt, some(some(int32(5))), int32(5)},
		{pointers, nil, nil}, {pointers, some(nil), some(nil)}, {pointers, some(some(nil)), some(some(nil))},
		{pointers, "p", "p"},
		{"std::vector<" + optOpt + ">", list(some(nil), nil, int32(1), some(nil)), list(some(nil), nil, int32(1), some(nil))},
		{"std::optional<std::vector<bool>>", some(nil), []any(nil)},

		{optVar, nil, nil}, {optVar, some(nil), some(nil)}, {optVar, alt(1, true), alt(1, true)},
		{optVar, some(alt(1, true)), alt(1, true)}, {optVar, int32(3), alt(0, int32(3))},
		{varOpt, nil, nil}, {varOpt, alt(1, nil), alt(1, nil)}, {varOpt, alt(1, int32(5)), alt(1, int32(5))},
		{varOpt, int32(5), alt(1, int32(5))}, {varOpt, alt(1, some(int32(5))), alt(1, int32(5))},
		{"std::optional<" + varOpt + ">", alt(1, nil), alt(1, nil)},
		{"std::variant<bool," + optOpt + ">", alt(1, some(nil)), alt(1, some(nil))},
		{"std::variant<bool," + optOpt + ">", some(int32(2)), alt(1, int32(2))},
		{numbers, alt(1, int32(5)), alt(1, int32(5))}, {numbers, 5.0, alt(2, 5.0)},
		{lists, alt(1, list()), alt(1, []any(nil))}, {lists, list(1.5), alt(1, list(1.5))},
		{varVar, alt(1, alt(1, "x")), alt(1, alt(1, "x"))}, {varVar, "x", alt(1, alt(1, "x"))},
		{varVar, alt(1, "x"), alt(1, alt(1, "x"))}, {varVar, alt(1, nil), alt(1, nil)},
		{"std::map<" + varOpt + "," + optOpt + ">",
			value.Map{Elements: []value.KeyValue{{Key: alt(1, nil), Value: some(nil)}}},
			value.Map{Elements: []value.KeyValue{{Key: alt(1, nil), Value: some(nil)}}}},
	} {
		if got, err := reread(t, test.typ, test.write); err != nil || !reflect.DeepEqual(got, test.read) {
			t.Errorf("%s: wrote %#v, read %#v, %v, want %#v", test.typ, test.write, got, err, test.read)
		}
	}
	for _, test := range []struct {
		typ   string
		write any
		want  string
	}{
		{numbers, int32(5), `field "x": alternatives 0 and 1 of ` + numbers + ` take this int32`},
		{lists, list(), `field "x": alternatives 0 and 1 of `}, {bothNames, "x", `alternatives 0 and 1`},
		{numbers, "5", `a value of type string does not fit`},
		{numbers, alt(3, 5.0), `there is no alternative 3 in ` + numbers},
		{numbers, alt(-1, nil), `there is no alternative -1`},
		{numbers, alt(2, int32(5)), `a value of type int32 does not fit double`},
		{numbers, alt(2, nil), `a value of type <nil> does not fit double`},
		{numbers, some(5.0), `a value of type value.Some does not fit`},
		{"std::optional<bool>", some(nil), `a value of type <nil> does not fit bool`},
		{"std::optional<bool>", some(some(true)), `a value of type value.Some does not fit bool`},
		{optOpt, alt(0, int32(1)), `a value of type value.Alternative does not fit`},
	} {
		if _, err := reread(t, test.typ, test.write); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %#v: %v, want %s", test.typ, test.write, err, test.want)
		}
	}
}
