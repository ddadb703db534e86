package field

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/convert"
	"github.com/go-rntuple/go-rntuple/internal/nearest"
)

// A Tag holds the options of a struct tag, which says more about the field of an
// RNTuple that a field of a Go struct stands for:
//
//	`rntuple:"name,option,option=value"`
//
// Readers and writers share it. The documentation of package rntuple lists the
// options. The zero value has none.
type Tag struct {
	Optional bool          // readers leave the zero value if there is no such field
	Unit     time.Duration // of a time.Time in the file; 0 stands for a nanosecond

	typ, class, enum string // names in C++
	encoding         string
	trunc, quant     int
	min, max         float64 // of quant
	description      string
}

// options has what each option does with its value. An option without "=" gets no
// value, which is not the same as an empty one.
var options = map[string]func(t *Tag, value string, given bool) error{
	"optional": func(t *Tag, _ string, given bool) error {
		if t.Optional = true; given {
			return errors.New("takes no value")
		}
		return nil
	},
	"type":     text(func(t *Tag) *string { return &t.typ }),
	"class":    text(func(t *Tag) *string { return &t.class }),
	"enum":     text(func(t *Tag) *string { return &t.enum }),
	"encoding": text(func(t *Tag) *string { return &t.encoding }),
	"desc":     text(func(t *Tag) *string { return &t.description }),
	"trunc":    width(func(t *Tag) *int { return &t.trunc }),
	"quant":    width(func(t *Tag) *int { return &t.quant }),
	"min":      float(func(t *Tag) *float64 { return &t.min }),
	"max":      float(func(t *Tag) *float64 { return &t.max }),
	"time": func(t *Tag, value string, _ bool) error {
		if t.Unit = units[value]; t.Unit == 0 {
			return fmt.Errorf("%q is none of ns, us, ms and s", value)
		}
		return nil
	},
}

func text(member func(*Tag) *string) func(*Tag, string, bool) error {
	return func(t *Tag, value string, _ bool) error {
		if value == "" {
			return errors.New("needs a value")
		}
		*member(t) = value
		return nil
	}
}

func width(member func(*Tag) *int) func(*Tag, string, bool) error {
	return func(t *Tag, value string, _ bool) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 32 {
			return fmt.Errorf("%q is no number of bits", value)
		}
		*member(t) = n
		return nil
	}
}

func float(member func(*Tag) *float64) func(*Tag, string, bool) error {
	return func(t *Tag, value string, _ bool) (err error) {
		if *member(t), err = strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("%q is no number", value)
		}
		return nil
	}
}

// exclusive lists options of which a tag can have one, and requires those that need
// another one.
var (
	exclusive = [][2]string{
		{"type", "class"}, {"type", "enum"}, {"encoding", "trunc"}, {"encoding", "quant"}, {"trunc", "quant"},
	}
	requires = [][2]string{{"quant", "min"}, {"quant", "max"}, {"min", "quant"}, {"max", "quant"}}
)

// parseTag returns the name, which may be empty, and the options in the text of a
// tag.
func parseTag(text string) (name string, t Tag, err error) {
	parts := splitTag(text)
	if name = parts[0]; name == "-" && len(parts) > 1 {
		return "", t, errors.New(`the name "-" leaves the field out and takes no options`)
	}
	given := map[string]bool{}
	for _, part := range parts[1:] {
		key, value, hasValue := strings.Cut(part, "=")
		set := options[key]
		switch {
		case set == nil:
			return "", t, unknownOption(key)
		case given[key]:
			return "", t, fmt.Errorf("option %q is given twice", key)
		}
		given[key] = true
		if err := set(&t, value, hasValue); err != nil {
			return "", t, fmt.Errorf("option %q: %w", key, err)
		}
	}
	for _, pair := range exclusive {
		if given[pair[0]] && given[pair[1]] {
			return "", t, fmt.Errorf("options %q and %q exclude each other", pair[0], pair[1])
		}
	}
	for _, pair := range requires {
		if given[pair[0]] && !given[pair[1]] {
			return "", t, fmt.Errorf("option %q needs option %q", pair[0], pair[1])
		}
	}
	return name, t, nil
}

func unknownOption(key string) error {
	if like := nearest.Name(key, slices.Sorted(maps.Keys(options))); like != "" {
		return fmt.Errorf("unknown option %q; did you mean %q?", key, like)
	}
	return fmt.Errorf("unknown option %q", key)
}

// splitTag splits a tag at the commas that are neither within <> nor in a
// description, which takes all that follows.
func splitTag(text string) (parts []string) {
	depth, begin := 0, 0
	for i, c := range text {
		switch {
		case begin > 0 && strings.HasPrefix(text[begin:], "desc="):
		case c == '<':
			depth++
		case c == '>':
			depth--
		case c == ',' && depth == 0:
			parts, begin = append(parts, text[begin:i]), i+1
		}
	}
	return append(parts, text[begin:])
}

// fits returns an error if the tag has an option that says nothing about values of
// type t.
func (tag *Tag) fits(t reflect.Type) error {
	for _, need := range []struct {
		given bool
		ok    func(reflect.Type) bool
		what  string
	}{
		{tag.class != "", func(t reflect.Type) bool { return t.Kind() == reflect.Struct && t != timeType },
			`option "class" is for structs`},
		{tag.enum != "", func(t reflect.Type) bool { return convert.IsInteger(convert.KindOf(t)) },
			`option "enum" is for integers`},
		{tag.Unit != 0, func(t reflect.Type) bool { return t == timeType }, `option "time" is for time.Time`},
	} {
		accepts := func(t reflect.Type) bool { return need.ok(t) || template(t) != "" }
		if need.given && within(t, accepts) == nil {
			return fmt.Errorf("%s, not for %v", need.what, t)
		}
	}
	return nil
}

// within returns the first type that is found, of t and what it is made of: the
// elements of slices, arrays and pointers, the keys and values of maps. It does not
// look into structs.
func within(t reflect.Type, found func(reflect.Type) bool) reflect.Type {
	return search(t, found, map[reflect.Type]bool{})
}

func search(t reflect.Type, found func(reflect.Type) bool, seen map[reflect.Type]bool) reflect.Type {
	if seen[t] {
		return nil
	}
	seen[t] = true
	if found(t) {
		return t
	}
	switch t.Kind() {
	case reflect.Map:
		if key := search(t.Key(), found, seen); key != nil {
			return key
		}
		return search(t.Elem(), found, seen)
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return search(t.Elem(), found, seen)
	}
	return nil
}
