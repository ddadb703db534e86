package syntax

// Split cuts a text at the colons that are not part of an expression, as in a ? b : c and a[1:2]. A
// text that is none is left whole.
func Split(text string) (parts []string) {
	defer func() {
		if _, ok := recover().(*Error); ok {
			parts = []string{text}
		}
	}()
	s := scanner{text: text}
	from, depth, questions := 0, 0, 0
	for t := s.scan(); t.kind != eof; t = s.scan() {
		switch {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.kind == bracket:
			depth--
		case depth > 0:
		case t.is("?"):
			questions++
		case t.is(":") && questions > 0:
			questions--
		case t.is(":"):
			parts = append(parts, text[from:t.pos])
			from = t.pos + 1
		}
	}
	return append(parts, text[from:])
}
