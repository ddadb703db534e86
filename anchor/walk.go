package anchor

import (
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/wire"
)

// Walk has c, which is big-endian, read an anchor, which it must hold and nothing
// else. Unlike Parse it does not verify the checksum: it is for those who show
// damaged anchors.
func Walk(c *frame.Codec) {
	c.Window("members", c.Left()-sumSize, func() { new(Anchor).wire(c) })
	var sum uint64
	wire.Int(c, "checksum", &sum)
}
