package value

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the JSON form of v to dst and returns the extended slice. The
// type of v is one of those that the package documentation lists:
//
//   - integers are exact; a bool is true or false
//   - floats have the shortest form that reads back as the same value of their
//     width, but negative zero is -0.0, whose sign programs keep that take -0 for an
//     integer; NaN and the infinities are "NaN", "Infinity" and "-Infinity"
//   - a string is a string; a byte that is not part of valid UTF-8 becomes the
//     lone surrogate \udc80 to \udcff that has it in its low byte (as in Python's
//     surrogateescape), so that nothing is lost
//   - a []any is an array
//   - a Map is an object if its keys are strings and all different, otherwise an
//     array of [key,value]
//   - a Record is an object with the members in order
//   - Bits are a string of 0 and 1, highest bit first
//   - a []byte is a string in base64
//   - an Alternative and a Some are the value that they hold, with one difference:
//     within an Alternative, whole floats have a decimal point, as in 3.0, so that
//     no alternative of integers accepts them
//   - nil is null
//
// JSON does not preserve everything: null may stand for any of several nested
// optionals and variants, and 5 for any alternative of integers. The command "rnt
// create" then chooses the outermost and the first one.
//
// AppendJSON panics if v has another type.
func AppendJSON(dst []byte, v any) []byte { return appendValue(dst, v, false) }

// appendValue appends v; if points is set, whole floats get a decimal point.
func appendValue(dst []byte, v any, points bool) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int8:
		return strconv.AppendInt(dst, int64(v), 10)
	case int16:
		return strconv.AppendInt(dst, int64(v), 10)
	case int32:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint8:
		return strconv.AppendUint(dst, uint64(v), 10)
	case uint16:
		return strconv.AppendUint(dst, uint64(v), 10)
	case uint32:
		return strconv.AppendUint(dst, uint64(v), 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case float32:
		return appendFloat(dst, float64(v), 32, points)
	case float64:
		return appendFloat(dst, v, 64, points)
	case string:
		return appendString(dst, v)
	case Bits:
		return appendString(dst, v.String())
	case []byte:
		return appendString(dst, base64.StdEncoding.EncodeToString(v))
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, e, points)
		}
		return append(dst, ']')
	case Map:
		return appendMap(dst, v, points)
	case Record:
		dst = append(dst, '{')
		for i, name := range v.Names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, name), ':')
			dst = appendValue(dst, v.Values[i], points)
		}
		return append(dst, '}')
	case Alternative:
		return appendValue(dst, v.Value, true)
	case Some:
		return appendValue(dst, v.Value, points)
	}
	panic(fmt.Sprintf("value.AppendJSON: a %T is not the value of a field", v))
}

func appendFloat(dst []byte, v float64, bits int, point bool) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	case v == 0 && math.Signbit(v):
		return append(dst, "-0.0"...)
	}
	// 'g' would be longer for numbers such as 100000000, 'f' for 1e300.
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, v, format, -1, bits)
	if point && format == 'f' && v == math.Trunc(v) {
		dst = append(dst, ".0"...)
	}
	return dst
}

const hex = "0123456789abcdef"

// short has the letters of the control characters for which JSON has short escapes.
var short = [' ']byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			_, n := utf8.DecodeRuneInString(s[i:])
			if n == 1 {
				dst = append(dst, `\udc`...)
				dst = append(dst, hex[c>>4], hex[c&15])
			} else {
				dst = append(dst, s[i:i+n]...)
			}
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' && short[c] != 0:
			dst = append(dst, '\\', short[c])
		case c < ' ':
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
		i++
	}
	return append(dst, '"')
}

func appendMap(dst []byte, m Map, points bool) []byte {
	open, between, end := byte('{'), byte(':'), []byte{'}'}
	if !m.isObject() {
		open, between, end = '[', ',', []byte{']'}
	}
	dst = append(dst, open)
	for i, kv := range m.Elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		if open == '[' {
			dst = append(dst, '[')
		}
		dst = append(appendValue(dst, kv.Key, points), between)
		dst = appendValue(dst, kv.Value, points)
		if open == '[' {
			dst = append(dst, ']')
		}
	}
	return append(dst, end...)
}

func (m Map) isObject() bool {
	if !m.StringKeys {
		return false
	}
	seen := make(map[string]bool, len(m.Elements))
	for _, kv := range m.Elements {
		key, ok := kv.Key.(string)
		if !ok || seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}
