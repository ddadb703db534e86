package envelope

import (
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/wire"
)

// Walk has c read an envelope of type t, which c must hold and nothing else. Unlike
// the functions that parse envelopes it goes through all members and does not
// verify the checksum: it is for those who show damaged envelopes.
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

// WalkBody is Walk for envelopes whose payload body walks.
func WalkBody(c *frame.Codec, body func(*frame.Codec)) {
	var head, sum uint64
	wire.Int(c, "head", &head)
	c.Window("payload", c.Left()-checksum.Size, func() { body(c) })
	wire.Int(c, "checksum", &sum)
}
