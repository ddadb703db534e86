package cpptype

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxDepth bounds how deep a type nests, so that a hostile name cannot exhaust
// the stack. Names in real data stay below 20.
const maxDepth = 128

// Parse reads a type name as ROOT or a user writes it, for example
// "const map<string, Long64_t>", and normalizes it. The empty name gives the zero
// Type. An error says at which byte of the name it occurred.
//
// ROOT::Experimental::RNTupleCardinality, which in early files has no argument,
// becomes ROOT::RNTupleCardinality<std::uint64_t>, which holds any size.
func Parse(name string) (Type, error) {
	p := parser{name: name}
	if p.skipSpace(); p.pos == len(name) {
		return Type{}, nil
	}
	t := p.typ()
	if p.skipSpace(); p.pos < len(name) {
		p.fail("unexpected text")
	}
	if p.err == nil && t.deeperThan(maxDepth) {
		p.fail("nested too deeply")
	}
	if p.err != nil {
		return Type{}, p.err
	}
	t.CV = 0
	return t, nil
}

// A parser walks over the name once. The first error moves it to the end, where
// nothing more is accepted.
type parser struct {
	name  string
	pos   int
	depth int
	err   error
}

func (p *parser) fail(problem string) {
	if p.err == nil {
		p.err = fmt.Errorf("type name: %s at offset %d, at %.20q", problem, p.pos, p.name[p.pos:])
	}
	p.pos = len(p.name)
}

// typ parses a type with the pointers, references and array extents that follow
// it.
func (p *parser) typ() Type {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.fail("nested too deeply")
	}
	t := p.specifiers()
	for p.accept("*") {
		t = Type{Name: "*", Args: []Type{t}, CV: p.qualifiers()}
	}
	if p.accept("&&") {
		return Type{Name: "&&", Args: []Type{t}}
	}
	if p.accept("&") {
		return Type{Name: "&", Args: []Type{t}}
	}
	var extents []Type
	for p.accept("[") {
		n := Type{Name: p.number()}
		if _, ok := n.Uint(); !ok || !p.accept("]") {
			p.fail("invalid array extent")
		}
		extents = append(extents, n)
	}
	for _, n := range slices.Backward(extents) {
		cv := t.CV
		t.CV = 0
		t = Type{Name: "std::array", Args: []Type{t, n}, CV: cv}
	}
	return t
}

// specifiers parses a name, or the words of a fundamental type in any order,
// with the qualifiers and keywords around it.
func (p *parser) specifiers() Type {
	cv := p.qualifiers()
	for p.word("class", "struct", "union", "enum", "typename") != "" {
		cv |= p.qualifiers()
	}
	p.accept("::") // the root namespace
	var t Type
	var words []string
	for w := p.fundamentalWord(); w != ""; w = p.fundamentalWord() {
		words = append(words, w)
		slices.Sort(words)
		if t.Name = fundamentals[strings.Join(words, " ")]; t.Name == "" {
			p.fail("contradictory words")
		}
		cv |= p.qualifiers()
	}
	if words == nil {
		t = p.nested()
	}
	t.CV = cv | p.qualifiers()
	return t
}

func (p *parser) fundamentalWord() string {
	return p.word("signed", "unsigned", "char", "short", "int", "long", "double")
}

// fundamentals holds the types of several words, by the words in alphabetical order.
// A long has 64 bits, as everywhere except on Windows.
var fundamentals = map[string]string{
	"char": "char", "char signed": "std::int8_t", "char unsigned": "std::uint8_t",
	"double": "double", "double long": "long double",

	"int": "std::int32_t", "signed": "std::int32_t", "int signed": "std::int32_t",
	"short": "std::int16_t", "int short": "std::int16_t", "short signed": "std::int16_t",
	"int short signed": "std::int16_t",
	"long":             "std::int64_t", "int long": "std::int64_t", "long signed": "std::int64_t",
	"int long signed": "std::int64_t",
	"long long":       "std::int64_t", "int long long": "std::int64_t",
	"long long signed": "std::int64_t", "int long long signed": "std::int64_t",

	"unsigned": "std::uint32_t", "int unsigned": "std::uint32_t",
	"short unsigned": "std::uint16_t", "int short unsigned": "std::uint16_t",
	"long unsigned": "std::uint64_t", "int long unsigned": "std::uint64_t",
	"long long unsigned": "std::uint64_t", "int long long unsigned": "std::uint64_t",
}

// nested parses a qualified name in which template arguments may follow every part:
// Outer<int>::Inner<float>.
func (p *parser) nested() Type {
	var t Type
	for {
		t.Name += p.qualified()
		if p.accept("<") {
			t.Args = p.arguments()
		}
		t = t.resolve()
		switch {
		case !p.accept("::"):
			return t
		case t.Args == nil: // basic_string<char>, which became std::string
			t.Name += "::"
		default:
			outer := t
			t = Type{Scope: &outer}
		}
	}
}

// qualified parses a name up to its first template argument and drops the inline
// namespaces of the standard libraries.
func (p *parser) qualified() string {
	var parts []string
	for {
		part := p.identifier()
		if part == "" {
			p.fail("missing name")
		}
		more := p.accept("::")
		inline := part == "__cxx11" || part == "__1" || part == "__ndk1"
		if !(inline && more && len(parts) == 1 && parts[0] == "std") {
			parts = append(parts, part)
		}
		if !more {
			return strings.Join(parts, "::")
		}
	}
}

// arguments parses template arguments and the closing bracket.
func (p *parser) arguments() []Type {
	args := []Type{}
	if p.accept(">") {
		return args
	}
	for {
		p.skipSpace()
		switch next := p.name[p.pos:]; {
		case next != "" && strings.IndexByte("0123456789+-(", next[0]) >= 0:
			args = append(args, Type{Name: p.number()})
		default:
			args = append(args, p.typ())
		}
		if p.accept(">") {
			return args
		}
		if !p.accept(",") {
			p.fail("missing , or >")
			return args
		}
	}
}

// resolve gives a known type its canonical name and the arguments that it keeps. The
// arguments of std templates and of RVec lose their qualifiers.
func (t Type) resolve() Type {
	if t.Scope != nil {
		return t
	}
	if canonical, ok := aliases[t.Name]; ok {
		t.Name = canonical
	} else if r, ok := rows["std::"+t.Name]; ok && (t.Args != nil) == (r.args != "") {
		t.Name = r.name
	}
	if n := len(rows[t.Name].args); rows[t.Name].args != "*" && 0 < n && n < len(t.Args) {
		t.Args = t.Args[:n:n]
	}
	if strings.HasPrefix(t.Name, "std::") || t.Name == rvec {
		for i := range t.Args {
			t.Args[i].CV = 0
		}
	}
	switch {
	case t.Name == "std::basic_string" && len(t.Args) == 1 && t.Args[0].Name == "char":
		return Type{Name: "std::string"}
	case t.Name == cardinality && t.Args == nil:
		t.Args = []Type{{Name: "std::uint64_t"}}
	}
	return t
}

// number parses an integer, with or without a cast as in (char)3, and returns
// its canonical spelling.
func (p *parser) number() string {
	if p.accept("(") {
		if p.typ(); !p.accept(")") {
			p.fail("missing )")
		}
	}
	sign := ""
	if p.accept("-") {
		sign = "-"
	} else {
		p.accept("+")
	}
	p.skipSpace()
	end := p.pos
	for end < len(p.name) && (isWord(p.name[end]) || p.name[end] == '\'') {
		end++
	}
	text := strings.ReplaceAll(p.name[p.pos:end], "'", "")
	v, err := strconv.ParseUint(strings.TrimRight(text, "uUlL"), 0, 64)
	if err != nil || strings.ContainsAny(text, "oO_") || sign != "" && v > -math.MinInt64 {
		p.fail("invalid integer")
		return ""
	}
	p.pos = end
	switch {
	case v == 0:
		sign = ""
	case v > math.MaxInt64 && sign == "":
		return strconv.FormatUint(v, 10) + "u"
	}
	return sign + strconv.FormatUint(v, 10)
}

// qualifiers parses any const and volatile.
func (p *parser) qualifiers() (cv CV) {
	for {
		switch p.word("const", "volatile") {
		case "const":
			cv |= Const
		case "volatile":
			cv |= Volatile
		default:
			return cv
		}
	}
}

// word accepts one of the given words.
func (p *parser) word(of ...string) string {
	start := p.pos
	if w := p.identifier(); slices.Contains(of, w) {
		return w
	}
	p.pos = start
	return ""
}

// identifier accepts any word that does not begin with a digit.
func (p *parser) identifier() string {
	p.skipSpace()
	start := p.pos
	for p.pos < len(p.name) && isWord(p.name[p.pos]) && (p.pos > start || !isDigit(p.name[start])) {
		p.pos++
	}
	return p.name[start:p.pos]
}

// accept moves past s if it comes next.
func (p *parser) accept(s string) bool {
	p.skipSpace()
	if !strings.HasPrefix(p.name[p.pos:], s) {
		return false
	}
	p.pos += len(s)
	return true
}

func (p *parser) skipSpace() {
	for p.pos < len(p.name) && (p.name[p.pos] == ' ' || '\t' <= p.name[p.pos] && p.name[p.pos] <= '\r') {
		p.pos++
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWord includes the bytes of letters beyond ASCII.
func isWord(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}
