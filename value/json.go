package value

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends v, one of the types that the package lists, as JSON to dst:
//
//   - integers exactly; bool as true and false
//   - floats in the shortest form that reads back to the same value of their
//     width; NaN and the infinities as "NaN", "Infinity" and "-Infinity"
//   - strings as strings; a byte that is not part of valid UTF-8 becomes the
//     lone surrogate \udc80 to \udcff that has it in its low byte (as Python's
//     surrogateescape), so that nothing is lost
//   - []any as array
//   - Map as object if its keys are strings and all different, else as array of
//     [key,value]
//   - Record as object, in the order of its members
//   - Bits as string of 0 and 1, highest bit first
//   - []byte as string in base64
//   - Alternative and Some as the value they hold, with one difference: within
//     an Alternative, floats that are whole have a point, as 3.0 does, so that
//     no alternative of integers takes them
//   - nil as null
//
// JSON does not tell everything: null may be any of optionals and variants that
// are nested in each other, 5 any alternative of integers. Command create of the
// tool then takes the outermost and the first.
//
// It panics if v is of another type.
func AppendJSON(dst []byte, v any) []byte { return appendValue(dst, v, false) }

// appendValue appends v; if points is set, floats that are whole get a point.
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

// short has the letters of the control characters that JSON abbreviates.
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
