package anchor

import (
	"github.com/go-rntuple/go-rntuple/frame"
)

// Walk makes c, which must be big-endian and hold an anchor and nothing else, read
// its members. Unlike Parse it does not verify the checksum: it serves to show
// damaged anchors.
func Walk(c *frame.Codec) {
	c.Window("members", c.Left()-sumSize, func() { new(Anchor).wire(c) })
	var sum uint64
	frame.Int(c, "checksum", &sum)
}
