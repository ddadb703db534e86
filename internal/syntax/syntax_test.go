package syntax

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// texts are expressions and others, where the parsers of other tests begin.
var texts = []string{
	"", " ", "a", " a ", "1", "1;", "(1;)", "1; 2", "let x = 1; x", "let x = 1; x;", "let x = 1; x; 2",
	"let x = let y = 1; y; x",
	"let x 1; x", "let 1 = 1; x",
	"let true = 1; true", "1 + let x = 1; x", "(let x = 1; x) + 1", "f(let x = 1; x, 2)", "[let x = 1; x, 2]",
	"a ? let x = 1; x : 2",
	"let x = a ? b : let y = 1; y; x",
	"if a { 1 } else { 2 }", "if a { 1 } else if b { 2 } else { 3 }", "if a { 1 }", "if a { 1 } else 2",
	"1 + if a {1} else {2}",
	"if a {1} else {2} + 3", "(if a {1} else {2}) + 3",
	"if a { let x = 1; x } else { 2; }", "if a ? b : c { 1 } else { 2 }", "if if a {b} else {c} {1} else {2}",
	"a ? b : c", "a ? b : c ? d : e", "a ? b ? c : d : e", "(a ? b : c) ? d : e", "a ?: b", "a ?: b ?: c",
	"a ? .5 : 1", "a ?.5 : 1",
	"a ? b : if c {d} else {e} ? f : g",
	"a ?? b", "a ?? b ?? c", "a ?? b + c", "a + b ?? c", "a + b ?? c + d", "(a ?? b) + c",
	"a ?? b | f()", "a ?? b ? c : d",
	"a ?? b not in c", "-a ?? b", "not a ?? b + c", "a * b ?? c ** d",
	"a or b and c", "a and b or c", "(a or b) and c", "a || b && !c", "not a and b", "not a == b", "not (a == b)",
	"!a in b", "not a in b",
	"a not in b", "a not  in b", "a not\tin b", "a not contains b", "a not b", "a not == b",
	"a + b not in c", "a not in b not in c", "a not startsWith 'x' and b not endsWith \"y\" or c not matches `z`",
	"not not a", "!!a",
	"not", "a not", "a and not b", "a * not b * c", "(a * not b) * c", "a in b in c", "a in not b",
	"a < b", "a < b < c", "(a < b) < c", "a < (b < c)", "a < b == c", "a == b < c", "a == b == c",
	"a < b == c < d", "a < b <= c > d >= e",
	"a < b + 1 < c and d", "not a < b < c", "a < not b < c", "a < -b < c", "a in b < c", "(a == b) < c",
	"a - b - c", "a - (b - c)", "a - b + c", "-a", "--a", "- - a", "+a", "-+a", "-a ** b", "(-a) ** b",
	"a ** -b", "a ** -b ** c",
	"a ** (-b) ** c", "a ** b ** c", "(a ** b) ** c", "a ^ b", "-1", "-1[0]", "-true.x", "-a.b", "-a[0]", "(-a)[0]",
	"a * b + c", "a * (b + c)", "a / b % c", "a*-b", "a*-b*c", "a***b", "a..b", "1..2", "1..2..3",
	"1...5", "1. ..2", "1.0..2.5",
	"1..n + 1", "(1..n) + 1", "1..-1", "a in 1..2 and b", "(a < b)..c", "a..", "..a", "1..2[0]",
	"1.", ".5", "1.5", "1e3", "1E+3", "1e-3", "1e", "1.e2", "1_000", "1__0_", "_1", "0x1F", "0X_f", "0x",
	"0x1.5", "0x1e+5", "0b101",
	"0b12", "0b1.1", "0b1e1", "0o17", "0o8", "08", "00", "1a", "1.a", "1 .a", "1.5.6", ".5.6", ".5..7", "a.5", "1[0]",
	"9223372036854775807", "9223372036854775808", "0x7fffffffffffffff", "0xffffffffffffffff", "1e308", "1e309",
	"1e-400", "1$", "1٣", "٣",
	"1é", "0.1e1_0",
	`"a"`, `'a'`, "`a`", "``", "````", "`a``b`", "`a\nb`", "`\\n`", `"a'b"`, `'a"b'`, `"\"" + '\''`, `"\'"`,
	`'\"'`, `"\a\b\f\n\r\t\v\\"`,
	`"\?"`, `"\z"`, `"\x41"`, `"\xff"`, `"\x4"`, `"\X41"`, `"\101"`, `"\377"`, `"\400"`, `"\18"`,
	`"\u00e9"`, `"\U0001F600"`,
	`"\u{e9}"`, `"\u{1F600}"`, `"\u{}"`, `"\u{1234567}"`, `"\u{110000}"`, `"\u{d800}"`, `"\u{_1}"`,
	`"\u{12"`, `"\u{1`, `"\u{123456`,
	`"\u{0000e9}"`, `"\u{00000e9}"`, `"\u{`, `"\u{10ffff}"`, `"\u{ffffff}"`, `"\ud800"`, `"\U00110000"`,
	`"\Uffffffff"`, `"\`, `"`, `"a`,
	"'a\nb'", "`a", "`a``", `"é日"`, `"a" "b"`, `b"x"`, `B'x'`, `b`, `ab"x"`,
	"a.b", "a.b.c", "a?.b", "a?.b.c?.d", "a?.[0]", "a?.[0].b", "a?.[1:2]", "a?[0]", "a ?. b", "a. b", "a.not",
	"a.in", "a.not in b", "a.if",
	"a.1", "a.", "a..", "a?.", "a.'b'", "a.#", "a['b']", `a["b"].c`, "'abc'[0]", "[1, 2][0]", "{a: 1}.a",
	"a.b(1)", "a.b.c()", "(a.b)(1)",
	"a[0]", "a[-1]", "a[0][1]", "a[b[0]]", "a[:]", "a[1:]", "a[:2]", "a[1:2]", "a[b ? c : d:e]", "a[b ? c : d]",
	"a[1:2:3]", "a[]", "a[1",
	"a[1,2]", "a[let x = 1; x:2]", "(a + b)[0]", "(a ? b : c).d", "a[::f()]",
	"[]", "[1]", "[1, 2]", "[1, 2,]", "[,]", "[1,,2]", "[1 2]", "[[1], [2]]", "{}", "{a: 1}",
	"{a: 1, 'b c': 2, in: 3}", "{a: 1, 'in': 3,}",
	"{a: 1,, b: 2}", "{1: 2}", "{(a): 1}", "{a: 1, a: 2}", "{true: 1}", "{a 1}", "{a: {b: c}}",
	"{a: b ? c : d}", "{`a\"b`: 1}",
	"f()", "f(1)", "f(1, 2)", "f(1, 2,)", "f(,)", "f(1,,2)", "f(1 2)", "f(", "f)", "f(1)(2)", "f(1)[0].x",
	"len(a)", "sqrt(x)", "::len(a)",
	":: f(1)", "a | f()", "a | f(1) | g(2, 3)", "a | f", "a | f().x", "a | f()[0]", "a + b | f()", "a + (b | f())",
	"a | f() + 1", "a | b",
	"a | 1", "a or b | f()", "a < b | f()", "f(a | g())", "a | map(# + 1) | sum()", "a|len()", "a | true()", "a | $env()",
	"any(a, # > 1)", "any(a, {# > 1})", "any(a, .x > 1)", "any(a, {.x > 1})", "any(a)", "any()", "any(a, b, c)",
	"any(a, b,)", "any(a,)",
	"sum(a)", "sum(a, # * 2)", "sum(a, .x,)", "sum(a,)", "count(a)", "count(a, #)", "none(a, !#)",
	"one(a, #.x)", "all(a, #[0] == 1)",
	"filter(a, .b.c[0] not in d)",
	"map(a, {a: 1})", "map(a, {{a: 1}})", "map(a, {{a: 1}.a + 1})", "map(a, ({a: 1}))", "map(a, let x = #; x)",
	"map(a, {let x = #; x})",
	"map(a, #; 1)", "map(a, {#; 1})", "map(a, map(b, # + 1))", "map(map(a, #), .x)", "map(a, #index)",
	"map(a, #acc)", "map(a, #foo)",
	"map(a, ##)", "map(a, # index)", "map(a, #.x.y)", "map(a, .)", "map(a, ..)", "map(a, .x...y)",
	"map(a, #..#)", "map(a, 1...x)",
	"map(a, -.x)", "map(a, .in)", "map(a, .5)", "map(a, #index + .x)", "map(a, #index.x)",
	"find(a, #)", "findIndex(a, #)", "findLast(a, #)", "findLastIndex(a, #)", "groupBy(a, .x)", "sortBy(a, #)",
	"sortBy(a, #, 'desc')",
	"sortBy(a, #, 'desc',)", "sortBy(a, #, 'desc', 1)", "sortBy(a)", "reduce(a, #acc + #)", "reduce(a, #acc + #, 0)",
	"a | reduce(#acc + #, 0)", "reduce(a)", "min(a)", "map", "map + 1", "map.x", "a | any()", "#", ".x", "# + 1", "[#]",
	"true", "false", "nil", "true()", "nil.x", "true ? false : nil", "True", "a b", "a, b", ")", "a)", "(", "((a))",
	"()", "a;;b", ";", "é",
	"日 + 本", "a\u00a0b", "a\u00a0+ b", "a € b", "\ufeffa", "a\x00", "a@b", "a\\b", "a~b", "a & b", "a &= b",
	"a = b", "a === b", "a =* b",
	"a <* b", "a !& b", "a! = b", "a != !b", "a:b", "a::b", "a ? b::c : d",
	`$env["a b"]`, `$env["a"].b`, `$env.a`, "$env", "$env[a]", "$env['a'][0]", "$env['a' + 'b']", "$env['a'",
	"$env()", "$env?.['a']",
	"Sum$(a)", "a$", "a // b", "a /* b */ + c", "a //", "'//'", "a / / b", "`/*`",
}

// randomTokens returns a text of random tokens.
func randomTokens(r *rand.Rand) string {
	tokens := strings.Fields(`a b f x 1 2.5 .5 "s" 'é' true nil + - * / % ** ^ ?? ? : , ; . .. ?. ( ) [ ] { } ( ) [ ] { } # #index not ! in matches contains
		or and || && == != < <= > >= | let if else = & :: any( sum( map( reduce( $env $env["q"] [0] .x`)
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteString(tokens[r.IntN(len(tokens))])
		b.WriteString([]string{"", " ", "", " ", "\n"}[r.IntN(5)])
	}
	return b.String()
}

// randomText returns an expression, most often a right one.
func randomText(r *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"a", "b", "c.d", "1", "2.5", `"s"`, "`r`", "true", "nil", "#", ".x", "#index", "a[0]", "[]", "0x1f",
			`$env["q"]`}[r.IntN(16)]
	}
	sub := func() string { return randomText(r, r.IntN(depth)) }
	binary := []string{"+", "-", "*", "/", "%", "**", "^", "??", "or", "and", "||", "&&", "==", "!=", "<", "<=", ">", ">=",
		"in", "not in", "matches", "not contains", "startsWith", "..", "<", ">"}
	switch r.IntN(20) {
	case 0:
		return "(" + sub() + ")"
	case 1:
		return []string{"-", "+", "not ", "!"}[r.IntN(4)] + sub()
	case 2:
		return sub() + " ? " + sub() + " : " + sub()
	case 3:
		return sub() + "[" + sub() + "]"
	case 4:
		return sub() + "[" + sub() + ":" + sub() + "]"
	case 5:
		return []string{"any", "map", "sum", "filter", "reduce", "f"}[r.IntN(6)] + "(" + sub() + ", " + sub() + ")"
	case 6:
		return "map(" + sub() + ", {" + sub() + "})"
	case 7:
		return "let x = " + sub() + "; " + sub()
	case 8:
		return "if " + sub() + " {" + sub() + "} else {" + sub() + "}"
	case 9:
		return "[" + sub() + ", " + sub() + "]"
	case 10:
		return "{a: " + sub() + ", 'b c': " + sub() + "}"
	case 11:
		return sub() + " | f(" + sub() + ")"
	case 12:
		return sub() + []string{".y", "?.y"}[r.IntN(2)]
	default:
		return sub() + " " + binary[r.IntN(len(binary))] + " " + sub()
	}
}

// dump returns a tree as text, with the places of nodes where expr-lang has the same if it is to be
// compared with that.
func dump(n Node, against bool) string {
	var attributes []any
	for _, f := range reflect.VisibleFields(reflect.TypeOf(n).Elem()) {
		switch v := reflect.ValueOf(n).Elem().FieldByIndex(f.Index); {
		case f.Name == "Offset":
		case f.Type.Kind() == reflect.Interface:
			attributes = append(attributes, v.IsNil())
		case f.Type.Kind() != reflect.Slice || f.Name == "Names":
			attributes = append(attributes, fmt.Sprintf("%#v", v))
		}
	}
	s := fmt.Sprintf("%T%v", n, attributes)
	if against {
		switch n := n.(type) {
		case *Cond:
		case *Unary:
			if _, ok := n.X.(*Binary); !ok || n.Op != "not" {
				s += fmt.Sprint("@", n.Pos())
			}
		case *Member:
			return dump(&Index{n.Offset, n.X, &String{n.Offset, n.Name}}, against)
		case *String:
		default:
			s += fmt.Sprint("@", n.Pos())
		}
	}
	var children []string
	for _, child := range Children(n) {
		children = append(children, dump(child, against))
	}
	return s + "(" + strings.Join(children, " ") + ")"
}

// TestString parses trees and their text again: it has the same tree.
func TestString(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	all := texts
	for range 10_000 {
		all = append(all, randomText(r, 6), randomTokens(r))
	}
	for _, text := range all {
		roundTrip(t, text)
	}
}

func roundTrip(t *testing.T, text string) {
	n, err := Parse(text)
	if err != nil {
		if e, ok := err.(*Error); !ok || n != nil || e.Pos < 0 || e.Pos > len(text) || e.Message == "" {
			t.Errorf("%q: %v, %#v", text, n, err)
		}
		return
	}
	again, err := Parse(n.String())
	if err != nil {
		t.Errorf("%s yields %s: %v", text, n, err)
		return
	}
	if got, want := dump(again, false), dump(n, false); got != want {
		t.Errorf("%s yields %s:\n%s, want\n%s", text, n, got, want)
	}
	if again.String() != n.String() {
		t.Errorf("%s yields %s, and that %s", text, n, again)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 500 {
			roundTrip(t, text)
		}
	})
}

// TestTree has texts with their trees, written with as few parentheses as possible.
func TestTree(t *testing.T) {
	for text, want := range map[string]string{
		"( a||b ) &&! c":          "(a or b) and not c",
		"a or (b and c)":          "a or b and c",
		"(a or b) or c":           "a or b or c",
		"a or (b or c)":           "a or (b or c)",
		"a^b":                     "a ** b",
		"(a ** b) ** c":           "(a ** b) ** c",
		"a ** (b ** c)":           "a ** b ** c",
		"(-a) ** (-b)":            "(-a) ** -b",
		"-(a ** b)":               "-a ** b",
		"not (a * b)":             "not a * b",
		"not (a == b)":            "not (a == b)",
		"(not a) == b":            "not a == b",
		"a not in b":              "not (a in b)",
		"a * (not b) * c":         "a * (not b) * c",
		"(a < b) < c":             "(a < b) < c",
		"a < b < c":               "a < b and b < c",
		"a < b == (c > d)":        "a < b == (c > d)",
		"(a ?? b) + c":            "(a ?? b) + c",
		"a + (b ?? c)":            "a + b ?? c",
		"1 .. (n+1)":              "1..n + 1",
		"(a ? b : c) ? d : e":     "(a ? b : c) ? d : e",
		"a ? b : (c ? d : e)":     "a ? b : c ? d : e",
		"if a {b} else {c}":       "a ? b : c",
		"a ?: b":                  "a ? a : b",
		"let x = (let y=1; y); x": "let x = (let y = 1; y); x",
		"a | map(#*2) | f(3,)":    "f(map(a, # * 2), 3)",
		"map(a, {{b: .x}})":       "map(a, {{b: .x}})",
		"any(a, {#.x > #index})":  "any(a, .x > #index)",
		"(-a)[0]":                 "(-a)[0]",
		"-1[0]":                   "(-1)[0]",
		"a?.b?.[0][ : 2]":         "a.b[0][:2]",
		"$env['a b'].c":           `$env["a b"].c`,
		"{'a': 1, 'b c': 2.0}":    `{a: 1, "b c": 2.0}`,
		`'\x41\u{1F600}"' + "\t"`: `"A😀\"" + "\t"`,
		"0x1f + 1_000 + 1e21":     "31 + 1000 + 1e+21",
	} {
		n, err := Parse(text)
		if err != nil || n.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, n, err, want)
		}
	}
}

// TestErrors has texts with a ¦ where they are wrong, and what errors say.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "unexpected token EOF",
		"N ¦>":                   "unexpected token EOF",
		"¦(":                     "unexpected token EOF",
		"N¦//2 == 1":             `"//" begins a comment, and an expression must not have one; for a quotient without its fraction, write int(x / y)`,
		"N == 1 ¦/* one */":      `"/*" begins a comment, and an expression must not have one`,
		"a == ¦`//":              "literal not terminated",
		"a == ¦'b\n'":            "literal not terminated",
		`"a¦\q"`:                 "invalid char escape",
		`"é¦\ud800"`:             "invalid char escape",
		"¦b'x'":                  "the language has no byte literals; write the string without b before it",
		"N ¦== 2; OK":            "the value of N == 2 is lost; join conditions with &&",
		"let n = N; n ¦== 2; OK": "the value of n == 2 is lost; join conditions with &&",
		"N ¦= 2":                 `unexpected token Operator("="); equality is written ==`,
		"N ==¦= 2":               `unexpected token Operator("="); equality is written ==`,
		"N == 2 ¦& OK":           `unexpected token Operator("&"); write and`,
		"N == 2 | O¦K":           "unexpected token EOF; write or",
		"N == 2 | N ¦== 3":       `unexpected token Operator("=="); write or`,
		"N == 2 ¦AND OK":         `unexpected token Identifier("AND"); write and, or, not in small letters`,
		"an(x, ¦# > 1)":          `unexpected token Operator("#"); # is an item in the second argument of any(array, # > 1), and of some other functions`,
		"NOT ¦OK":                `unexpected token Identifier("OK"); write and, or, not in small letters`,
		"F < TMath¦::Pi()":       `unexpected token Operator("::"); pi is 3.141592653589793`,
		"TMath¦::Sqrt(F) < 3":    `unexpected token Operator("::"); functions have no TMath:: before their names: sqrt(x)`,
		"1 + a¦:b:c > 1":         `unexpected token Operator(":"); if a:b:c is a field, write $env["a:b:c"]`,
		"f(é¦::ü)":               `unexpected token Operator("::"); if é::ü is a field, write $env["é::ü"]`,
		"1 +\u00a0a¦:b\u00a0":    `unexpected token Operator(":"); if a:b is a field, write $env["a:b"]`,
		"v[1:2¦:3]":              `unexpected token Operator(":")`,
		`$env["a:b"] + $env[-¦1`: "unexpected token EOF",
		"1 + ¦$env == 1":         `$env can only be used as $env["name"]`,
		"¦$env[a]":               `$env can only be used as $env["name"]`,
		"a.¦f(1)":                "f cannot be called on a value; write f(value)",
		"a. ¦1":                  `unexpected token Number("1"); expected the name of a member`,
		"¦# > 1":                 `unexpected token Operator("#"); # is an item in the second argument of any(array, # > 1), and of some other functions`,
		"map(a, ¦#foo)":          "#foo is unknown; there are #, #index and #acc",
		"map(a, #¦; 1)":          "wrap predicate with brackets { and }",
		"map(a, {b¦: #})":        `unexpected token Operator(":"); a record that a predicate makes is in parentheses: ({a: #})`,
		"map(a¦)":                "expected at least 2 arguments",
		"map(a, #, ¦1)":          `unexpected token Number("1")`,
		"{¦1: 2}":                `unexpected token Number("1"); a record is {name: value}, and its names are words or strings`,
		"{¦(a): 2}":              `unexpected token Bracket("("); a record is {name: value}, and its names are words or strings`,
		"{a: 1, ¦'a': 2}":        `the record has two values for "a"`,
		"a ?? b ¦+ c":            "Operator (+) and coalesce expressions (??) cannot be mixed. Wrap either by parentheses.",
		"let ¦nil = 1; 2":        `unexpected token Identifier("nil")`,
		"¦9223372036854775808":   "9223372036854775808 does not fit 64 bits",
		"1 + ¦1e400":             "1e400 does not fit 64 bits",
		"¦0x1.5":                 `bad number syntax: "0x1.5"`,
		"¦1a2":                   `bad number syntax: "1a2"`,
		"a ¦€ b":                 "unrecognized character: U+20AC '€'",
		"'\ufffd' + '¦\xff'":     "it is not UTF-8",
	} {
		pos := max(strings.Index(text, "¦"), 0)
		_, err := Parse(strings.Replace(text, "¦", "", 1))
		var e *Error
		if !errors.As(err, &e) || want != "" && (e.Pos != pos || e.Message != want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestPosition(t *testing.T) {
	const text = "aé\nü + b\n"
	for pos, want := range map[int][2]int{0: {1, 1}, 1: {1, 2}, 3: {1, 3}, 4: {2, 1}, 6: {2, 2}, len(text): {3, 1}} {
		if line, column := Position(text, pos); line != want[0] || column != want[1] {
			t.Errorf("%d: %d, %d, want %v", pos, line, column, want)
		}
	}
}

// TestHostile parses texts that would need much time or a deep stack.
func TestHostile(t *testing.T) {
	repeated := func(s string) string { return strings.Repeat(s, maxText/len(s)) }
	nested := "1"
	for range 100 {
		nested = "1 < (" + nested + ") < 1"
	}
	for text, want := range map[string]string{
		repeated("("):                   "it is nested too deep",
		repeated("-"):                   "it is nested too deep",
		repeated("not "):                "it is nested too deep",
		repeated("a["):                  "it is nested too deep",
		repeated("a[["):                 "it is nested too deep",
		repeated("{a:"):                 "it is nested too deep",
		repeated("f("):                  "it is nested too deep",
		repeated("map(a,{"):             "it is nested too deep",
		repeated("a?b:"):                "it is nested too deep",
		repeated("a?"):                  "it is nested too deep",
		repeated("a**"):                 "it is nested too deep",
		repeated("let a=1;"):            "it is nested too deep",
		repeated("let a="):              "it is nested too deep",
		repeated("if "):                 "it is nested too deep",
		repeated("if a{1}else{2}"):      "unexpected token",
		repeated("if a{1}else "):        "it is nested too deep",
		repeated("1..") + "1":           "it is nested too deep",
		"1" + repeated("..1")[3:]:       "it is nested too deep",
		"a" + repeated("+a")[2:]:        "it is nested too deep",
		"a" + repeated("<a")[2:]:        "it is nested too deep",
		"a" + repeated(".a")[2:]:        "it is nested too deep",
		"a" + repeated("[0]")[3:]:       "it is nested too deep",
		"a" + repeated("|f()")[4:]:      "it is nested too deep",
		"a" + repeated(" not in b")[9:]: "it is nested too deep",
		nested:                          "operands and operators",
		strings.Repeat("(", 9000) + "a" + strings.Repeat("?:b)", 9000): "operands and operators",
		repeated("a not "):                        "unexpected token",
		repeated(" "):                             "unexpected token",
		repeated("a"):                             "",
		repeated("9"):                             "does not fit",
		"0." + repeated("9")[2:]:                  "",
		"'" + repeated("x")[1:]:                   "not terminated",
		"`" + repeated("``")[2:]:                  "not terminated",
		`"` + repeated(`\u{`)[1:]:                 "invalid char escape",
		repeated("a:b"):                           "unexpected token",
		"[" + strings.Repeat("1,", 100_000) + "]": "",
	} {
		_, err := Parse(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %.200v, want %s", text, err, want)
		}
	}
}

// TestSplit: a colon divides the axes unless it belongs to an expression.
func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"x": "x", "y:x": "y|x", "y : x": "y | x", "z:y:x": "z|y|x",
		"a ? b : c": "a ? b : c", "a ? b : c : x": "a ? b : c | x", "y:a?b:c": "y|a?b:c",
		"a ? b ? 1 : 2 : 3 : x": "a ? b ? 1 : 2 : 3 | x",
		"v[1:2]:x":              "v[1:2]|x", "f({a: 1}):x": "f({a: 1})|x", `"a:b":x`: `"a:b"|x`, `$env["a:b"]`: `$env["a:b"]`,
		"a ?? b : x": "a ?? b | x", "a?.b:x": "a?.b|x", "'é:':ü": "'é:'|ü", "'": "'", "": "",
	} {
		if got := strings.Join(Split(text), "|"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
