package syntax

import (
	"fmt"
	"strings"
)

// unexpected fails at the next token, with hints for those who write what TTree::Draw of ROOT
// takes.
func (p *parser) unexpected() { p.refuse(p.hint()) }

// refuse fails at the next token.
func (p *parser) refuse(hint string) { fail(p.tok.pos, "unexpected token %v%s", p.tok, hint) }

// hint returns what may help if the next token is unexpected.
func (p *parser) hint() string {
	switch t := p.tok; {
	case t.is("="):
		return "; equality is written =="
	case t.is("&"):
		return "; write and"
	case strings.HasPrefix(t.text, "#") && t.kind == operator:
		return "; # is an item in the second argument of any(array, # > 1), and of some other functions"
	case inCapitals(p.last), inCapitals(t):
		return "; write and, or, not in small letters"
	case t.is(":"), t.is("::"):
		return colonHint(withColons(p.text, t.pos))
	}
	return ""
}

// inCapitals reports whether t is a word of the language in capitals.
func inCapitals(t token) bool {
	return t.kind == identifier && (t.text == "AND" || t.text == "OR" || t.text == "NOT")
}

// withColons returns the words around a colon, which may be the name of a field or of a function of
// C++.
func withColons(text string, pos int) string {
	inside := func(r rune) bool { return r == ':' || isWord(r) }
	before := strings.TrimRightFunc(text[:pos], inside)
	after := strings.TrimLeftFunc(text[pos:], inside)
	return strings.Trim(text[len(before):len(text)-len(after)], ":")
}

func colonHint(name string) string {
	switch {
	case !strings.Contains(name, ":"), isDigit(name[0]):
		return ""
	case name == "TMath::Pi":
		return "; pi is 3.141592653589793"
	case strings.HasPrefix(name, "TMath::"):
		return "; functions have no TMath:: before their names: sqrt(x)"
	}
	return fmt.Sprintf("; if %s is a field, write $env[%q]", name, name)
}
