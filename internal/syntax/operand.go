package syntax

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// operand parses an operand with the operators before it, and what is taken from it.
func (p *parser) operand() Node {
	t := p.tok
	pos := Offset(t.pos)
	switch t.kind {
	case identifier:
		return p.identifier()
	case number:
		return p.number()
	case literal:
		p.next()
		return p.postfix(&String{pos, t.text})
	}
	switch {
	case t.kind == operator && unaryPrecedence[t.text] > 0:
		p.next()
		return p.postfix(&Unary{pos, operatorName(t.text), p.expression(unaryPrecedence[t.text])})
	case p.accept("("):
		x := p.sequence()
		p.expect(")")
		return p.postfix(x)
	case p.accept("["):
		n := &Array{Offset: pos}
		p.list("]", func() { n.Items = append(n.Items, p.expression(0)) })
		return p.postfix(n)
	case p.accept("{"):
		return p.postfix(p.record(pos))
	case p.predicates > 0 && t.is("."):
		return p.postfix(&Item{pos, ""})
	case p.predicates > 0 && strings.HasPrefix(t.text, "#"):
		if p.next(); t.text != "#" && t.text != "#index" && t.text != "#acc" {
			fail(t.pos, "%s is unknown; there are #, #index and #acc", t.text)
		}
		return p.postfix(&Item{pos, t.text[1:]})
	}
	p.unexpected()
	return nil
}

func (p *parser) identifier() Node {
	t := p.tok
	pos := Offset(t.pos)
	p.next()
	switch t.text {
	case "true", "false":
		return &Bool{pos, t.text == "true"}
	case "nil":
		return &Nil{pos}
	case "$env":
		if p.tok.is(".") {
			p.next()
			if name := p.tok; name.kind == identifier {
				p.next()
				return p.postfix(&Name{pos, name.text, true})
			}
			fail(t.pos, `$env can only be used as $env["name"]`)
		}
		if p.accept("[") {
			if n, ok := p.index(nil, pos).(*Index); ok {
				if name, ok := n.At.(*String); ok {
					return p.postfix(&Name{pos, name.Value, true})
				}
			}
		}
		fail(t.pos, `$env can only be used as $env["name"]`)
	}
	if p.tok.is("(") {
		return p.postfix(p.call(t))
	}
	return p.postfix(&Name{pos, t.text, false})
}

func (p *parser) number() Node {
	t := p.tok
	p.next()
	text := strings.ReplaceAll(strings.ToLower(t.text), "_", "")
	var n Node
	var err error
	if strings.ContainsAny(text, ".e") && !strings.HasPrefix(text, "0x") {
		var value float64
		value, err = strconv.ParseFloat(text, 64)
		n = &Float{Offset(t.pos), value}
	} else {
		base := 10
		if len(text) > 1 && text[0] == '0' && !isDigit(text[1]) {
			base = 0 // that of the prefix
		}
		var value int64
		value, err = strconv.ParseInt(text, base, 64)
		n = &Int{Offset(t.pos), value}
	}
	if errors.Is(err, strconv.ErrRange) {
		fail(t.pos, "%s does not fit 64 bits", t.text)
	} else if err != nil {
		fail(t.pos, "bad number syntax: %q", t.text)
	}
	return n
}

// list parses items between commas up to a closing bracket.
func (p *parser) list(closing string, item func()) {
	for !p.accept(closing) {
		item()
		if !p.tok.is(closing) {
			p.expect(",")
		}
	}
}

// record parses what follows "{".
func (p *parser) record(pos Offset) Node {
	n := &Record{Offset: pos}
	p.list("}", func() {
		name := p.tok
		if name.kind != identifier && name.kind != literal {
			p.refuse("; a record is {name: value}, and its names are words or strings")
		}
		if slices.Contains(n.Names, name.text) {
			fail(name.pos, "the record has two values for %q", name.text)
		}
		p.next()
		p.expect(":")
		n.Names = append(n.Names, name.text)
		n.Values = append(n.Values, p.expression(0))
	})
	return n
}

// call parses the arguments of a function after the first ones.
func (p *parser) call(name token, first ...Node) Node {
	n := &Call{Offset(name.pos), name.text, first}
	arity, takesPredicate := predicates[name.text]
	p.expect("(")
	p.list(")", func() {
		switch {
		case takesPredicate && len(n.Args) == arity.max:
			p.unexpected()
		case takesPredicate && len(n.Args) == 1:
			n.Args = append(n.Args, p.predicate())
		default:
			n.Args = append(n.Args, p.expression(0))
		}
	})
	if takesPredicate && len(n.Args) < arity.min {
		fail(p.last.pos, "expected at least %d arguments", arity.min)
	}
	return n
}

func (p *parser) predicate() Node {
	n := &Predicate{Offset: Offset(p.tok.pos)}
	p.predicates++
	if p.accept("{") {
		if n.X = p.sequence(); p.tok.is(":") {
			p.refuse("; a record that a predicate makes is in parentheses: ({a: #})")
		}
		p.expect("}")
	} else if n.X = p.expression(0); p.tok.is(";") {
		fail(p.tok.pos, "wrap predicate with brackets { and }")
	}
	p.predicates--
	return n
}

// postfix parses what is taken from x: members, items and slices. What is missing has members and
// items that are missing, so that "?." is ".".
func (p *parser) postfix(x Node) Node {
	for {
		p.deepen()
		t := p.tok
		switch {
		case t.is("?.") || t.is("."):
			if p.next(); t.is("?.") && p.tok.is("[") {
				continue
			}
			name := p.tok
			if (name.kind != identifier && name.kind != operator) || !isName(name.text) {
				p.refuse("; expected the name of a member")
			}
			if p.next(); p.tok.is("(") {
				fail(name.pos, "%s cannot be called on a value; write %[1]s(value)", name.text)
			}
			x = &Member{Offset(name.pos), x, name.text}
		case p.accept("["):
			x = p.index(x, Offset(t.pos))
		default:
			return x
		}
	}
}

// index parses what follows "[" after x.
func (p *parser) index(x Node, pos Offset) (n Node) {
	var from, to Node
	if !p.tok.is(":") {
		from = p.expression(0)
	}
	if p.accept(":") {
		if !p.tok.is("]") {
			to = p.expression(0)
		}
		n = &Slice{pos, x, from, to}
	} else {
		n = &Index{pos, x, from}
	}
	p.expect("]")
	return n
}
