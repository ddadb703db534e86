package jsonl

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-rntuple/go-rntuple/value"
)

// fill reads more input into the buffer, and reports whether there was any.
func (r *Reader) fill() bool {
	if len(r.buf) == cap(r.buf) {
		r.buf = slices.Grow(r.buf, cap(r.buf))
	}
	for range 100 {
		if r.srcErr != nil {
			return false
		}
		n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf, r.srcErr = r.buf[:len(r.buf)+n], err
		if n > 0 {
			return true
		}
	}
	r.srcErr = cmp.Or(r.srcErr, io.ErrNoProgress)
	return false
}

// next skips white space and returns the byte at pos, or 0 at the end of the input.
func (r *Reader) next() byte {
	for {
		for ; r.pos < len(r.buf); r.pos++ {
			if c := r.buf[r.pos]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				return c
			}
		}
		if !r.fill() {
			return 0
		}
	}
}

// more reports whether another item follows in an array or object, and consumes the
// comma before it or the closing bracket.
func (r *Reader) more(first bool, end byte) (bool, *Error) {
	switch c := r.next(); {
	case c == end:
		r.pos++
		return false, nil
	case first:
		return true, nil
	case c == ',':
		r.pos++
		return true, nil
	}
	return false, r.expected("',' or '" + string(end) + "'")
}

// word consumes a word such as null.
func (r *Reader) word(w string) *Error {
	for len(r.buf)-r.pos < len(w) && r.fill() {
	}
	if !bytes.HasPrefix(r.buf[r.pos:], []byte(w)) {
		return r.expected(w)
	}
	r.pos += len(w)
	return nil
}

// number returns the number at pos, and does not change pos. It leaves the check of
// what follows a point or exponent to strconv.
func (r *Reader) number() ([]byte, *Error) {
	end := r.pos
	for end < len(r.buf) && isNumber[r.buf[end]] {
		if end++; end == len(r.buf) {
			r.fill()
		}
	}
	token := r.buf[r.pos:end]
	digits := bytes.TrimPrefix(token, minus)
	point := bytes.IndexByte(digits, '.')
	if !isDigit(digits) || digits[0] == '0' && isDigit(digits[1:]) || point >= 0 && !isDigit(digits[point+1:]) {
		return nil, r.expected("a number")
	}
	return token, nil
}

var (
	minus    = []byte("-")
	isNumber = [256]bool{'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true,
		'7': true, '8': true, '9': true,
		'-': true, '+': true, '.': true, 'e': true, 'E': true}
)

func isDigit(b []byte) bool { return len(b) > 0 && '0' <= b[0] && b[0] <= '9' }

// printsAs reports whether v prints as a number equal to token. Numbers too long
// for integers are compared as 64-bit floats.
func printsAs(v any, token []byte) bool {
	printed := value.AppendJSON(nil, v)
	if bytes.Equal(printed, token) {
		return true
	}
	if len(token) <= len("-9223372036854775808") && !bytes.ContainsAny(token, ".eE") && string(token) != "-0" {
		return false
	}
	a, _ := strconv.ParseFloat(string(printed), 64)
	b, _ := strconv.ParseFloat(string(token), 64)
	return a == b
}

// text consumes the string at pos and returns its contents, which are valid until
// the next string is read.
func (r *Reader) text() ([]byte, *Error) {
	begin := r.pos + 1
	escaped := false
	for end := begin; ; end++ {
		for end >= len(r.buf) {
			if !r.fill() {
				r.pos = len(r.buf)
				return nil, r.expected("the end of the string")
			}
		}
		switch c := r.buf[end]; {
		case c == '"':
			if escaped {
				return r.unescape(begin, end)
			}
			r.pos = end + 1
			return r.buf[begin:end], nil
		case c == '\\':
			escaped = true
			end++ // the escaped byte does not end the string
		case c < ' ':
			r.pos = end
			return nil, r.expected("the end of the string")
		}
	}
}

// unescape returns the contents of the string from begin to end.
func (r *Reader) unescape(begin, end int) ([]byte, *Error) {
	dst := r.scratch[:0]
	for in := r.buf[begin:end]; len(in) > 0; {
		n := bytes.IndexByte(in, '\\')
		if n < 0 {
			dst = append(dst, in...)
			break
		}
		dst, in = append(dst, in[:n]...), in[n:]
		if i := strings.IndexByte(`"\/bfnrt`, in[1]); i >= 0 {
			dst, in = append(dst, "\"\\/\b\f\n\r\t"[i]), in[2:]
			continue
		}
		c, pair := unit(in), utf8.RuneError
		if c >= 0 && utf16.IsSurrogate(c) && len(in) > 6 {
			pair = utf16.DecodeRune(c, unit(in[6:]))
		}
		switch {
		case pair != utf8.RuneError:
			dst, in = utf8.AppendRune(dst, pair), in[12:]
		case 0xdc80 <= c && c <= 0xdcff:
			dst, in = append(dst, byte(c)), in[6:]
		case c < 0 || utf16.IsSurrogate(c):
			r.pos = end - len(in)
			return nil, r.fail("expected an escape sequence of JSON, found %#q", in[:min(len(in), 6)])
		default:
			dst, in = utf8.AppendRune(dst, c), in[6:]
		}
	}
	r.scratch, r.pos = dst, end+1
	return dst, nil
}

// unit returns the code unit of the \u and four digits with which in begins, or -1.
func unit(in []byte) rune {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return -1
	}
	c := rune(0)
	for _, h := range in[2:6] {
		d := strings.IndexByte("0123456789abcdef", h|0x20)
		if d < 0 || h < '0' {
			return -1
		}
		c = c<<4 | rune(d)
	}
	return c
}
