package wire

// A Member is a run of bytes that a traced walk has read as one value.
type Member struct {
	Pos   int    // of the first byte, from the start of the record
	Bytes []byte // never empty
	Path  string // as in a FormatError
	// Value is an integer of its own type, a float64, a string or a []byte; nil
	// for bytes that the walk has passed over: nobody knows what they are.
	Value  any
	Length bool // of the string that follows
}

// Trace has c note in members all that it reads, and returns c. It is for those
// who show records byte by byte.
//
// Members are in the order of their bytes. Where a walk looks at bytes a second
// time, the second time counts.
func (c *Codec) Trace(members *[]Member) *Codec {
	c.trace = members
	return c
}

// traced notes that b, which begins at pos, has been read as v.
func (c *Codec) traced(name string, pos int, b []byte, v any) {
	if len(b) == 0 {
		return
	}
	all := *c.trace
	for len(all) > 0 && all[len(all)-1].Pos >= pos {
		all = all[:len(all)-1]
	}
	*c.trace = append(all, Member{Pos: pos, Bytes: b, Path: c.where(name), Value: v})
}

// tracedInt keeps what traced takes out of Int.
//
//go:noinline
func tracedInt[T Integer](c *Codec, name string, b []byte, v T) { c.traced(name, c.pos-len(b), b, v) }

// tracedString notes that the string s has been read, behind its length, which is
// the last member.
func (c *Codec) tracedString(name, s string) {
	(*c.trace)[len(*c.trace)-1].Length = true
	c.traced(name, c.pos-len(s), c.buf[c.pos-len(s):c.pos], s)
}
