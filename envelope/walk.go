package envelope

import (
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
)

// Walk makes c, which must hold an envelope of type t and nothing else, read its
// members. Unlike the functions that parse envelopes it does not verify the
// checksum: it serves to show damaged envelopes.
func Walk(c *frame.Codec, t Type) {
	switch t {
	case TypeHeader:
		WalkBody(c, new(Header).wire)
	case TypeFooter:
		WalkBody(c, new(Footer).wire)
	case TypePageList:
		WalkBody(c, new(PageList).wire)
	default:
		WalkBody(c, func(*frame.Codec) {})
	}
}

// WalkBody is like Walk, for envelopes whose payload body walks.
func WalkBody(c *frame.Codec, body func(*frame.Codec)) {
	var head, sum uint64
	frame.Int(c, "head", &head)
	c.Window("payload", c.Left()-checksum.Size, func() { body(c) })
	frame.Int(c, "checksum", &sum)
}
