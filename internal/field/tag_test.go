package field

import (
	"fmt"
	"math/big"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestParseTag(t *testing.T) {
	for _, test := range []struct {
		text, name string
		want       Tag
		err        string
	}{
		{text: ""},
		{text: "pt", name: "pt"},
		{text: ",optional", want: Tag{Optional: true}},
		{text: "a.b,optional,desc=one, two=2 <three", name: "a.b",
			want: Tag{Optional: true, description: "one, two=2 <three"}},
		{text: "m,type=std::map<int,std::pair<int,int>>,encoding=X", name: "m",
			want: Tag{typ: "std::map<int,std::pair<int,int>>", encoding: "X"}},
		{text: "v,class=A<B,C>,enum=E", name: "v", want: Tag{class: "A<B,C>", enum: "E"}},
		{text: "x,trunc=16", name: "x", want: Tag{trunc: 16}},
		{text: "x,min=-1.5,max=2,quant=7", name: "x", want: Tag{quant: 7, min: -1.5, max: 2}},
		{text: "x,min=0,max=1,quant=1", name: "x", want: Tag{quant: 1, max: 1}},
		{text: "x,min=0,max=1,quant=32", name: "x", want: Tag{quant: 32, max: 1}},
		{text: "t,time=us", name: "t", want: Tag{Unit: time.Microsecond}},
		{text: "desc=x", name: "desc=x"},

		{text: "run,optinal", err: `unknown option "optinal"; did you mean "optional"?`},
		{text: "run,Type=int", err: `unknown option "Type"; did you mean "type"?`},
		{text: "run,frob=1", err: `unknown option "frob"`},
		{text: "run,", err: `unknown option ""`},
		{text: "run, optional", err: `unknown option " optional"; did you mean "optional"?`},
		{text: "-,optional", err: "takes no options"},
		{text: "-,", err: "takes no options"},
		{text: "x,optional,optional", err: `option "optional" is given twice`},
		{text: "x,optional=true", err: `option "optional": takes no value`},
		{text: "x,type", err: `option "type": needs a value`},
		{text: "x,class=", err: `option "class": needs a value`},
		{text: "x,trunc=0", err: `"0" is no number of bits`},
		{text: "x,trunc=33", err: `"33" is no number of bits`},
		{text: "x,trunc", err: `"" is no number of bits`},
		{text: "x,quant=8", err: `option "quant" needs option "min"`},
		{text: "x,quant=8,min=1", err: `option "quant" needs option "max"`},
		{text: "x,min=1", err: `option "min" needs option "quant"`},
		{text: "x,quant=8,min=a,max=1", err: `"a" is no number`},
		{text: "x,type=char,class=C", err: `options "type" and "class" exclude each other`},
		{text: "x,enum=E,type=int", err: `options "type" and "enum" exclude each other`},
		{text: "x,encoding=Real16,trunc=16", err: `options "encoding" and "trunc" exclude each other`},
		{text: "x,trunc=12,quant=8,min=0,max=1", err: `options "trunc" and "quant" exclude each other`},
		{text: "x,time=min", err: `"min" is none of ns, us, ms and s`},
	} {
		name, tag, err := parseTag(test.text)
		switch {
		case test.err != "":
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q: error %v, expected %s", test.text, err, test.err)
			}
		case err != nil || name != test.name || tag != test.want:
			t.Errorf("%q: %q %+v, %v", test.text, name, tag, err)
		}
	}
}

type (
	lock   struct{ _ sync.Mutex }
	Lock   struct{ _ sync.Mutex }
	Inner  struct{ X int32 }
	plain  struct{ Y int32 }
	Vector []Vector
	Tree   struct{ Children []Tree }
)

// TestMembers has structs whose fields count or not, and what is wrong with others.
// Reading and writing go by the same rules.
func TestMembers(t *testing.T) {
	for _, test := range []struct {
		name string
		of   any
		want string // names of the members
		err  []string
	}{
		{name: "names", of: struct {
			A int32
			B int32 `rntuple:"b"`
			C int32 `rntuple:"-"`
			d int32
		}{}, want: "A b"},
		{name: "embedded", of: struct {
			Inner
			plain
			lock
			Z int32
		}{}, want: "X Y Z"},
		{name: "embedded with a tag", of: struct {
			Inner `rntuple:"inner"`
		}{}, want: "inner"},
		{name: "embedded time", of: struct {
			time.Time
			Z int32
		}{}, want: "Time Z"},
		{name: "no fields", of: struct{}{}},
		{name: "all left out", of: struct {
			A int32 `rntuple:"-"`
		}{}},
		{name: "a lock left out", of: struct {
			Mu sync.Mutex `rntuple:"-"`
		}{}},
		{name: "a lock of one's own", of: struct {
			mu sync.Mutex
			X  int32
		}{}, want: "X"},

		{name: "opaque", of: Lock{}, err: []string{"field.Lock has no exported fields"}},
		{name: "opaque fields", of: struct {
			Mu    sync.Mutex
			Addr  []netip.Addr
			Big   map[string]*big.Int
			Array [2][]Lock
			Key   map[netip.Addr]int32
			Mutex sync.Mutex `rntuple:"m,optional"`
		}{}, err: []string{
			"struct.Mu: sync.Mutex has no", "struct.Addr: netip.Addr has no", "struct.Big: big.Int has no",
			"struct.Array: field.Lock has no",
			"struct.Key: netip.Addr has no", "struct.Mutex: sync.Mutex has no",
		}},
		{name: "opaque and embedded", of: struct {
			sync.Mutex
			X int32
		}{}, err: []string{"struct.Mutex: sync.Mutex has no exported fields"}},
		{name: "an embedded pointer", of: struct{ *plain }{},
			err: []string{"struct.plain: the embedded pointer is not exported"}},
		{name: "tags", of: struct {
			A int32 `rntuple:"a,optinal"`
			b int32 `rntuple:"b"`
			C int32 `rntuple:"c,class=C"`
			D int32 `rntuple:"d,time=us"`
			E []any `rntuple:"e,enum=E"`
		}{}, err: []string{
			`struct.A: tag: unknown option "optinal"`, "struct.b: the field has a tag but is not exported",
			`struct.C: option "class" is for structs, not for int32`, `struct.D: option "time" is for time.Time, not for int32`,
			`struct.E: option "enum" is for integers, not for []interface {}`,
		}},
	} {
		typ := reflect.TypeOf(test.of)
		members, err := Members(typ)
		var names []string
		for _, m := range members {
			names = append(names, m.Name)
		}
		if got := strings.Join(names, " "); got != test.want || (err == nil) != (test.err == nil) {
			t.Errorf("%s: members %q, %v", test.name, got, err)
		}
		doc, modelErr := Model("n", typ)
		if err == nil && len(doc.Fields) != len(names) || (modelErr == nil) != (test.err == nil) {
			t.Errorf("%s: %d fields for writing, %v", test.name, len(doc.Fields), modelErr)
		}
		for _, want := range test.err {
			for _, err := range []error{err, modelErr} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v\nexpected %s", test.name, err, want)
				}
			}
		}
	}
}

// Types that contain themselves have no schema, and do not take forever to find out.
func TestRecursive(t *testing.T) {
	type root struct {
		V Vector
		T Tree
		P *Tree
	}
	_, err := Model("n", reflect.TypeFor[root]())
	for _, want := range []string{"V: values of type field.Vector", "T.Children: values of type field.Tree",
		"P.Children: values of type field.Tree"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %s", err, want)
		}
	}
	if _, err := Model("n", reflect.TypeFor[Tree]()); err == nil {
		t.Error("a tree")
	}
}

// A Go map becomes a std::map or a std::set; in a std::map, structs need the name of a class.
func TestMapsOf(t *testing.T) {
	for _, test := range []struct {
		of   any
		want string // the type, or the error
	}{
		{map[string]struct{}{}, "std::set<std::string>"},
		{map[Inner]struct{}{}, "std::set<Inner>"},
		{[]map[int32]struct{}{}, "std::vector<std::set<std::int32_t>>"},
		{map[string]Inner{}, "std::map<std::string,Inner>"},
		{map[string]generic[float64]{},
			`M: the generic struct field.generic[float64] needs a C++ class here: rntuple:"name,class=..."`},
		{map[string]struct{ X int32 }{}, `M: an unnamed struct needs a C++ class here: rntuple:"name,class=..."`},
	} {
		doc, err := Model("n", reflect.StructOf([]reflect.StructField{{Name: "M", Type: reflect.TypeOf(test.of)}}))
		got := fmt.Sprint(err)
		if err == nil {
			got = doc.Fields[0].Type
		}
		if strings.TrimPrefix(got, "schema: ") != test.want {
			t.Errorf("%T: %s, want %s", test.of, got, test.want)
		}
	}
}

type generic[T any] struct{ X, Y T }

func TestClock(t *testing.T) {
	at := time.Date(2026, 11, 22, 1, 2, 3, 456789012, time.FixedZone("", 3600))
	const seconds = 1795305723
	for unit, want := range map[time.Duration]int64{
		0: seconds*1e9 + 456789012, time.Nanosecond: seconds*1e9 + 456789012, time.Microsecond: seconds*1e6 + 456789,
		time.Millisecond: seconds*1e3 + 456, time.Second: seconds,
	} {
		c := newClock(unit)
		if n, ok := c.number(at); n != want || !ok {
			t.Errorf("%v: %d, %v, expected %d", unit, n, ok, want)
		}
		if back := c.time(want); !back.Equal(at.Truncate(unit)) || back.Location() != time.UTC {
			t.Errorf("%v: back is %v", unit, back)
		}
		// Before 1970 the last number that is not after the time is the lower one.
		before := time.Unix(-1, 999)
		if n, ok := c.number(before); !ok || c.time(n).After(before) || c.time(n+1).Before(before) {
			t.Errorf("%v: %d, %v", unit, n, ok)
		}
	}
	for _, test := range []struct {
		at   time.Time
		unit time.Duration
		ok   bool
	}{
		{time.Unix(0, 1<<63-1), time.Nanosecond, true}, {time.Unix(0, 1<<63-1).Add(1), time.Nanosecond, false},
		{time.Unix(0, -1<<63), time.Nanosecond, true}, {time.Unix(0, -1<<63).Add(-1), time.Nanosecond, false},
		{time.Time{}, time.Nanosecond, false}, {time.Time{}, time.Microsecond, true}, {time.Time{}, time.Second, true},
		{time.UnixMicro(1<<63 - 1), time.Microsecond, true},
		{time.UnixMicro(1<<63 - 1).Add(time.Microsecond), time.Microsecond, false},
		{time.UnixMilli(-1 << 63), time.Millisecond, true}, {time.UnixMilli(-1 << 63).Add(-1), time.Millisecond, false},
	} {
		c := newClock(test.unit)
		if n, ok := c.number(test.at); ok != test.ok || ok && !c.time(n).Equal(test.at) {
			t.Errorf("%v in %v: %d, %v", test.at, test.unit, n, ok)
		}
	}
}

// TestDocumented makes sure that the package documentation lists all options.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../rntuple/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for key := range options {
		if !regexp.MustCompile(`(?m)^//\t(.*,)?` + key + `( |=)`).Match(doc) {
			t.Errorf("the documentation of package rntuple does not list the option %q", key)
		}
	}
}
