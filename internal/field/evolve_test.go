package field_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// TestEvolution reads classes of a file into structs whose members have moved to a
// base class or from one, are new, or are in doubt.
func TestEvolution(t *testing.T) {
	number := func(name string) *schema.FieldDocument { return fieldOf(t, name, "std::int32_t") }
	s := build(t,
		class("d", "Derived", class(":_0", "Base", class(":_0", "Root", number("r"), number("hidden")), number("b"),
			number("hidden")), number("own")),
		class("two", "Two", class(":_0", "Left", number("x"), number("l")), class(":_1", "Right", number("x"))),
	)
	src := source(t, s, cluster{2, columns{
		"d.:_0.:_0.r/0": of[int32](1, 11), "d.:_0.:_0.hidden/0": of[int32](2, 12), "d.:_0.b/0": of[int32](3, 13),
		"d.:_0.hidden/0": of[int32](4, 14), "d.own/0": of[int32](5, 15),
		"two.:_0.x/0": of[int32](6, 16), "two.:_0.l/0": of[int32](7, 17), "two.:_1.x/0": of[int32](8, 18),
	}})
	type (
		root struct {
			R int64 `rntuple:"r"`
		}
		base struct {
			Root root  `rntuple:":_0"`
			B    int32 `rntuple:"b"`
		}
		asStored struct {
			Base base  `rntuple:":_0"`
			Own  int32 `rntuple:"own"`
		}
		flat struct {
			R      int32 `rntuple:"r"`
			Own    int16 `rntuple:"own"`
			B      int32 `rntuple:"b"`
			Hidden int32 `rntuple:"hidden"`
		}
		movedDown struct { // own is in the base class now
			Base struct {
				Own int32 `rntuple:"own"`
				B   int32 `rntuple:"b"`
			} `rntuple:":_0"`
		}
		newBase struct {
			Base struct {
				R    int32    `rntuple:"r"`
				New  *float64 `rntuple:"new,optional"`
				More struct {
					Z [2]int8 `rntuple:"z,optional"`
				} `rntuple:":_7"`
			} `rntuple:":_5,optional"`
		}
		embedded struct {
			root
			B int32 `rntuple:"b"`
		}
		twice struct {
			B    int32 `rntuple:"b"`
			Base struct {
				B int32 `rntuple:"b"`
			} `rntuple:":_4"`
		}
		hereFirst struct { // one of the members is in its own place
			Base struct {
				B int32 `rntuple:"b"`
			} `rntuple:":_0"`
			B int32 `rntuple:"b"`
		}
		hereLast struct {
			B    int32 `rntuple:"b"`
			Base struct {
				B int32 `rntuple:"b"`
			} `rntuple:":_0"`
		}
		left struct {
			L int32 `rntuple:"l"`
		}
		doubtful struct {
			X int32 `rntuple:"x"`
		}
		missing struct {
			None int32 `rntuple:"none"`
			B    int32 `rntuple:"b"`
		}
	)
	var down movedDown
	down.Base.Own, down.Base.B = 5, 3
	var fresh newBase
	fresh.Base.R = 1
	for _, test := range []struct {
		path string
		want any // for entry 0
	}{
		{"d", asStored{base{root{1}, 3}, 5}}, {"d", flat{1, 5, 3, 4}}, {"d", down}, {"d", fresh},
		{"d", embedded{root{1}, 3}}, {"two", left{7}},
		{"d", value.Record{Names: []string{":_0", "own"}, Values: list{
			value.Record{Names: []string{":_0", "b", "hidden"},
				Values: list{value.Record{Names: []string{"r", "hidden"}, Values: list{int32(1), int32(2)}}, int32(3), int32(4)}},
			int32(5)}}},
	} {
		got, err := read(t, src, test.path, reflect.TypeOf(test.want), options)
		if err != nil || !reflect.DeepEqual(got.Index(0).Interface(), test.want) {
			t.Errorf("%T: %v, error %v, want %v", test.want, got, err, test.want)
		}
	}
	for _, test := range []struct {
		path string
		typ  any
		want string
	}{
		{"d", twice{}, `field "d.:_0.b" is the only one for several members "b" of the struct`},
		{"d", hereFirst{}, `field "d.:_0.b" is the only one for several members "b" of the struct`},
		{"d", hereLast{}, `field "d.:_0.b" is the only one for several members "b" of the struct`},
		{"two", doubtful{}, `field "two" has several base classes with a member "x"`},
		{"d", missing{}, `"none"`},
	} {
		var mismatch *schema.MismatchError
		_, err := read(t, src, test.path, reflect.TypeOf(test.typ), options)
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T: error %v, want %s", test.typ, err, test.want)
		}
	}
	// Members that may be missing become zero, whatever was there.
	plan, err := field.Compile(src, lookup(t, s, "d"), reflect.TypeFor[missing](),
		field.Options{Budget: 1 << 20, AllowMissing: true})
	if err != nil {
		t.Fatal(err)
	}
	got := []missing{{None: 9}, {None: 9}}
	if err := plan.Read(t.Context(), 0, 2, reflect.ValueOf(got).UnsafePointer()); err != nil ||
		fmt.Sprint(got) != "[{0 3} {0 13}]" {
		t.Errorf("%v, error %v", got, err)
	}
}

// TestMembers reads fields into some of the members of a struct, and leaves the
// others alone.
func TestMembers(t *testing.T) {
	type entry struct {
		Before, X int16
		Any       any
		After     int16
	}
	s := build(t, fieldOf(t, "x", "std::int32_t"), record("r", fieldOf(t, "s", "std::string")))
	src := source(t, s, cluster{2, columns{"x/0": of[int32](5, 6), "r.s/0": of[uint64](1, 2), "r.s/1": characters("ab")}})
	typ := reflect.TypeFor[entry]()
	member := func(name, of string) field.Member {
		f, _ := typ.FieldByName(of)
		return field.Member{Name: name, Type: f.Type, Offset: f.Offset}
	}
	plan, err := field.CompileMembers(src, typ, []field.Member{member("x", "X"), member("r.s", "Any")}, options)
	if err != nil {
		t.Fatal(err)
	}
	got := []entry{{Before: 1, After: 2}, {Before: 3, After: 4}}
	if err := plan.Read(t.Context(), 0, 2, reflect.ValueOf(got).UnsafePointer()); err != nil ||
		fmt.Sprint(got) != "[{1 5 a 2} {3 6 b 4}]" {
		t.Errorf("%v, error %v", got, err)
	}
	if _, err := field.CompileMembers(src, typ, []field.Member{member("y", "X"), member("x", "Any")},
		options); !errors.Is(err, schema.ErrNoField) {
		t.Errorf("error %v", err)
	}
}

// TestMemberNames lists the members of a struct.
func TestMemberNames(t *testing.T) {
	type tagged struct {
		A    int8 `rntuple:"a,optional"`
		Skip int8 `rntuple:"-"`
		B    int8
		onlyX
	}
	members, err := field.Members(reflect.TypeFor[tagged]())
	var got []string
	for _, m := range members {
		got = append(got, fmt.Sprint(m.Name, " ", m.Type, " ", m.Offset, " ", m.Optional))
	}
	if want := "a int8 0 true, B int8 2 false, X int16 4 false"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("members %q, error %v, want %s", got, err, want)
	}
}
