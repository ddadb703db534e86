package checksum

import (
	"github.com/zeebo/xxh3"

	"github.com/go-rntuple/go-rntuple/frame"
)

// Size is the size of a checksum in bytes.
const Size = 8

// Sum returns the checksum of b.
func Sum(b []byte) uint64 { return xxh3.Hash(b) }

// Verify returns an error that wraps frame.ErrChecksum if stored is not the
// checksum of b.
func Verify(stored uint64, b []byte) error {
	if computed := Sum(b); stored != computed {
		return frame.BadChecksum(stored, computed)
	}
	return nil
}
