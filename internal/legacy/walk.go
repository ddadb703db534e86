package legacy

import (
	"encoding/binary"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
)

// WalkAnchor makes c read b, an anchor of class ROOT::Experimental::RNTuple, which
// must be all that c holds. It does not verify the checksum.
func WalkAnchor(c *frame.Codec, b []byte) {
	version := uint16(classMax)
	if len(b) >= 6 {
		version = binary.BigEndian.Uint16(b[4:])
	}
	switch version {
	case classV0, classRC1:
		new(oldAnchor).Wire(c)
	case classRC2, classNoMax:
		new(midAnchor).Wire(c)
	default:
		anchor.Walk(c)
	}
}
