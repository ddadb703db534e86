package syntax

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A kind is a kind of tokens, as errors name it.
type kind string

const (
	eof        kind = "EOF"
	identifier kind = "Identifier"
	number     kind = "Number"
	literal    kind = "String"
	operator   kind = "Operator" // or a word of the language, or what separates
	bracket    kind = "Bracket"
)

// A token is the smallest part of a text that has a meaning.
type token struct {
	kind kind
	pos  int
	text string // as written; of a string, its value
}

func (t token) String() string {
	if t.kind == eof {
		return string(eof)
	}
	return fmt.Sprintf("%s(%q)", t.kind, t.text)
}

// is reports whether t is an operator or a bracket.
func (t token) is(text string) bool {
	return (t.kind == operator || t.kind == bracket) && t.text == text
}

// words are the words that are not names.
var words = []string{"and", "contains", "else", "endsWith", "if", "in", "let", "matches", "not", "or", "startsWith"}

// signs are the operators that are not words. Those that begin with others come first.
var signs = []string{
	"**", "&&", "||", "==", "!=", "<=", ">=", "..", "?.", "??", "::",
	",", ";", "+", "-", "*", "/", "%", "^", "|", "&", "!", "=", "<", ">", "?", ":", ".",
}

// isWord reports whether names may contain r. All but the digits of ASCII may begin one.
func isWord(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isName reports whether text is a name or a word.
func isName(text string) bool {
	return text != "" && !isDigit(text[0]) && strings.IndexFunc(text, func(r rune) bool { return !isWord(r) }) < 0
}

// A scanner divides a text into tokens.
type scanner struct {
	text string // valid UTF-8
	pos  int    // of what is not yet scanned
}

// fail ends Parse with an error.
func fail(pos int, format string, args ...any) {
	panic(&Error{pos, fmt.Sprintf(format, args...)})
}

// scan returns the next token. After the end of the text it is of kind eof, at the last character.
func (s *scanner) scan() token {
	s.skip(unicode.IsSpace)
	start, rest := s.pos, s.text[s.pos:]
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "":
		_, size := utf8.DecodeLastRuneInString(s.text)
		return token{eof, len(s.text) - size, ""}
	case isDigit(rest[0]), r == '.' && len(rest) > 1 && isDigit(rest[1]):
		s.number()
		return s.token(number, start)
	case r == '"', r == '\'':
		return token{literal, start, s.quoted()}
	case r == '`':
		return token{literal, start, s.raw()}
	case (r == 'b' || r == 'B') && len(rest) > 1 && (rest[1] == '"' || rest[1] == '\''):
		fail(start, "the language has no byte literals; write the string without %c before it", r)
	case isWord(r):
		s.skip(isWord)
		t := s.token(identifier, start)
		if slices.Contains(words, t.text) {
			t.kind = operator
		}
		return t
	case r == '#':
		s.pos++
		s.skip(isWord)
		return s.token(operator, start)
	case strings.ContainsRune("()[]{}", r):
		s.pos++
		return s.token(bracket, start)
	case strings.HasPrefix(rest, "//"):
		fail(start, `"//" begins a comment, and an expression must not have one; for a quotient without its fraction, write int(x / y)`)
	case strings.HasPrefix(rest, "/*"):
		fail(start, `"/*" begins a comment, and an expression must not have one`)
	}
	for _, sign := range signs {
		if strings.HasPrefix(rest, sign) {
			s.pos += len(sign)
			return s.token(operator, start)
		}
	}
	fail(start, "unrecognized character: %#U", r)
	return token{}
}

// token returns the token from start to what is not yet scanned.
func (s *scanner) token(k kind, start int) token { return token{k, start, s.text[start:s.pos]} }

// skip skips the characters for which f holds.
func (s *scanner) skip(f func(rune) bool) {
	if n := strings.IndexFunc(s.text[s.pos:], func(r rune) bool { return !f(r) }); n >= 0 {
		s.pos += n
	} else {
		s.pos = len(s.text)
	}
}

// accept skips one of some characters of ASCII, and reports whether it is there.
func (s *scanner) accept(chars string) bool {
	ok := s.pos < len(s.text) && strings.IndexByte(chars, s.text[s.pos]) >= 0
	if ok {
		s.pos++
	}
	return ok
}

// number skips a number. It is for the parser to find that 0x1.5 is none.
func (s *scanner) number() {
	start := s.pos
	s.accept(".") // .5
	digits := "0123456789_"
	if s.accept("0") {
		switch {
		case s.accept("xX"):
			digits += "abcdefABCDEF"
		case s.accept("oO"):
			digits = "01234567_"
		case s.accept("bB"):
			digits = "01_"
		}
	}
	run := func() {
		for s.accept(digits) {
		}
	}
	run()
	if !strings.HasPrefix(s.text[s.pos:], "..") && s.accept(".") { // 1..2 is a range
		run()
	}
	if s.accept("eE") {
		s.accept("+-")
		run()
	}
	end := s.pos
	if s.skip(isWord); s.pos > end {
		fail(start, "bad number syntax: %q", s.text[start:s.pos])
	}
}

// quoted skips a string in quotes, and returns its value.
func (s *scanner) quoted() string {
	start, quote := s.pos, s.text[s.pos]
	var value strings.Builder
	for s.pos++; ; {
		r, size := utf8.DecodeRuneInString(s.text[s.pos:])
		switch {
		case size == 0, r == '\n', r == '\r':
			fail(start, "literal not terminated")
		case r == rune(quote):
			s.pos++
			return value.String()
		case r == '\\':
			r, size = s.escaped(quote)
		}
		s.pos += size
		value.WriteRune(r)
	}
}

// escaped returns the character that an escape sequence stands for, and the length of the sequence. They are those of
// Go, except that \xff is the character U+00FF, and \u{1F600} may have from one to six digits.
func (s *scanner) escaped(quote byte) (r rune, size int) {
	rest := s.text[s.pos:]
	if digits, ok := strings.CutPrefix(rest, `\u{`); ok {
		digits, _, closed := strings.Cut(digits[:min(len(digits), len("10ffff}"))], "}")
		n, err := strconv.ParseUint(digits, 16, 31)
		if closed && err == nil && utf8.ValidRune(rune(n)) {
			return rune(n), len(`\u{}`) + len(digits)
		}
	} else if r, _, tail, err := strconv.UnquoteChar(rest, quote); err == nil {
		return r, len(rest) - len(tail)
	}
	fail(s.pos, "invalid char escape")
	return 0, 0
}

// raw skips a string in backquotes, in which two of them stand for one, and returns its value.
func (s *scanner) raw() string {
	start := s.pos
	for s.pos++; ; s.pos++ {
		n := strings.IndexByte(s.text[s.pos:], '`')
		if n < 0 {
			fail(start, "literal not terminated")
		}
		if s.pos += n + 1; !strings.HasPrefix(s.text[s.pos:], "`") {
			return strings.ReplaceAll(s.text[start+1:s.pos-1], "``", "`")
		}
	}
}
