package envelope_test

import (
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/locator"
)

// TestStoredSize makes sure that the size of a page includes its checksum: 8 bytes of
// XXH3, or 4 bytes of CRC32 in a pre-release format.
func TestStoredSize(t *testing.T) {
	at := locator.At(1000, 40)
	for _, test := range []struct {
		page          envelope.Page
		sum, together uint64
	}{
		{envelope.Page{Locator: at}, 0, 40},
		{envelope.Page{Locator: at, HasChecksum: true}, 8, 48},
		{envelope.Page{Locator: at, HasCRC32: true}, 4, 44},
		{envelope.Page{HasChecksum: true}, 8, 8},
	} {
		if sum, together := test.page.ChecksumSize(), test.page.StoredSize(); sum != test.sum || together != test.together {
			t.Errorf("%+v: a checksum of %d bytes, %d in all; want %d, %d", test.page, sum, together, test.sum, test.together)
		}
	}
}
