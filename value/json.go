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
//   - nil as null
//
// It panics if v is of another type.
func AppendJSON(dst []byte, v any) []byte {
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
		return appendFloat(dst, float64(v), 32)
	case float64:
		return appendFloat(dst, v, 64)
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
			dst = AppendJSON(dst, e)
		}
		return append(dst, ']')
	case Map:
		return appendMap(dst, v)
	case Record:
		dst = append(dst, '{')
		for i, name := range v.Names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, name), ':')
			dst = AppendJSON(dst, v.Values[i])
		}
		return append(dst, '}')
	}
	panic(fmt.Sprintf("value.AppendJSON: a %T is not the value of a field", v))
}

func appendFloat(dst []byte, v float64, bits int) []byte {
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
	return strconv.AppendFloat(dst, v, format, -1, bits)
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

func appendMap(dst []byte, m Map) []byte {
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
		dst = append(AppendJSON(dst, kv.Key), between)
		dst = AppendJSON(dst, kv.Value)
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
