package oracle

import (
	"strings"
	"unicode/utf8"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// A function has a result of a type. None of its arguments is missing.
type function struct {
	Type
	value func(n syntax.Node, v []any) any
}

// signature returns the name of a function and the types of its arguments: "split string string
// int".
func signature(name string, types []Type) string {
	for _, t := range types {
		name += " " + t.String()
	}
	return name
}

// ofStrings are functions by their signatures.
var ofStrings = map[string]function{
	"len string": {integer,
		func(_ syntax.Node, v []any) any { return int64(utf8.RuneCountInString(v[0].(string))) }},
	"upper string":                     changed(func(s ...string) string { return strings.ToUpper(s[0]) }),
	"lower string":                     changed(func(s ...string) string { return strings.ToLower(s[0]) }),
	"trim string":                      changed(func(s ...string) string { return strings.TrimSpace(s[0]) }),
	"trim string string":               changed(func(s ...string) string { return strings.Trim(s[0], s[1]) }),
	"trimPrefix string":                changed(func(s ...string) string { return strings.TrimPrefix(s[0], " ") }),
	"trimPrefix string string":         changed(func(s ...string) string { return strings.TrimPrefix(s[0], s[1]) }),
	"trimSuffix string":                changed(func(s ...string) string { return strings.TrimSuffix(s[0], " ") }),
	"trimSuffix string string":         changed(func(s ...string) string { return strings.TrimSuffix(s[0], s[1]) }),
	"replace string string string":     {str, replace},
	"replace string string string int": {str, replace},
	"repeat string int": {str, func(n syntax.Node, v []any) any {
		if times := v[1].(int64); times < 0 || times > 1e6 {
			failEntry(n, "repeat %d times", times)
		}
		short(n, len(v[0].(string))*int(v[1].(int64)))
		return strings.Repeat(v[0].(string), int(v[1].(int64)))
	}},
	"hasPrefix string string": {boolean,
		func(_ syntax.Node, v []any) any { return strings.HasPrefix(v[0].(string), v[1].(string)) }},
	"hasSuffix string string": {boolean,
		func(_ syntax.Node, v []any) any { return strings.HasSuffix(v[0].(string), v[1].(string)) }},
	"indexOf string string":        place(strings.Index),
	"lastIndexOf string string":    place(strings.LastIndex),
	"split string string":          parts(strings.SplitN),
	"split string string int":      parts(strings.SplitN),
	"splitAfter string string":     parts(strings.SplitAfterN),
	"splitAfter string string int": parts(strings.SplitAfterN),
	"join [string]":                {str.optional(true), join},
	"join [string] string":         {str.optional(true), join},
}

// TooLong is in errors about strings that are too long for the oracle: reduce can square their
// lengths again and again.
const TooLong = "too long for the oracle"

// KeyMissing ends the error about a key that may be missing. The oracle does not know which arrays
// have a fixed size, so that their items are there.
const KeyMissing = "the key may be missing"

func short(n syntax.Node, size int) {
	if size > 1<<18 {
		failEntry(n, "a string of %d bytes is %s", size, TooLong)
	}
}

func replace(n syntax.Node, v []any) any {
	s, old, by, most := v[0].(string), v[1].(string), v[2].(string), -1
	if len(v) > 3 {
		most = int(v[3].(int64))
	}
	short(n, len(s)+strings.Count(s, old)*len(by))
	return strings.Replace(s, old, by, most)
}

// changed makes a function of strings into a string.
func changed(f func(s ...string) string) function {
	return function{str, func(_ syntax.Node, v []any) any {
		var all []string
		for _, x := range v {
			all = append(all, x.(string))
		}
		return f(all...)
	}}
}

// place makes a function that finds a string in another one, and counts characters.
func place(f func(s, sub string) int) function {
	return function{integer, func(_ syntax.Node, v []any) any {
		s := v[0].(string)
		at := f(s, v[1].(string))
		if at < 0 {
			return int64(-1)
		}
		return int64(utf8.RuneCountInString(s[:at]))
	}}
}

// parts makes a function that splits a string.
func parts(f func(s, sep string, n int) []string) function {
	return function{ArrayOf(str), func(_ syntax.Node, v []any) any {
		items, n := []any{}, append(v, int64(-1))[2].(int64)
		for _, s := range f(v[0].(string), v[1].(string), int(n)) {
			items = append(items, s)
		}
		return items
	}}
}

func join(_ syntax.Node, v []any) any {
	var all []string
	for _, item := range v[0].([]any) {
		if item == nil {
			return nil
		}
		all = append(all, item.(string))
	}
	return strings.Join(all, append(v, "")[1].(string))
}
