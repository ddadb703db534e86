package frame

// A Member is a run of bytes that a traced walk reads as one value.
type Member struct {
	Pos   int    // of the first byte, from the start of the record
	Bytes []byte // never empty
	Path  string // as in a FormatError
	// Value is an integer of its own type, a float64, a string or a []byte. It is
	// nil for bytes that the walk has skipped, whose meaning is not known.
	Value  any
	Length bool // whether this is the length of the string that follows
}

// Trace makes c record in members everything that it reads, for showing records byte by byte, as
// rnt dump does. Members are in the order of their bytes. If a walk reads bytes a second time, the
// second time counts.
func (c *Codec) Trace(members *[]Member) { c.trace = members }

// traced records that b, which begins at pos, has been read as v.
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

// tracedInt is not inlined, which keeps the cost of traced out of Int.
//
//go:noinline
func tracedInt[T Integer](c *Codec, name string, b []byte, v T) { c.traced(name, c.pos-len(b), b, v) }

// tracedString records that the string s has been read. The last member is its
// length.
func (c *Codec) tracedString(name, s string) {
	(*c.trace)[len(*c.trace)-1].Length = true
	c.traced(name, c.pos-len(s), c.buf[c.pos-len(s):c.pos], s)
}
