package rntuple

import (
	"io"

	"github.com/go-rntuple/go-rntuple/internal/pages"
)

// NewReaderAt opens the RNTuple that an anchor leads to, for programs that read
// the directories of the ROOT file themselves. Object is the anchor's object as
// the file has it, uncompressed, and class its class: ROOT::RNTuple or, of
// pre-release formats, ROOT::Experimental::RNTuple. See NewReader for ra and
// size.
func NewReaderAt(ra io.ReaderAt, size int64, class string, object []byte, opts ...Option) (*Reader, error) {
	config, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	config.limits = config.limits.For(size)
	return open(pages.Blobs{R: ra, Size: size}, class, class, object, config)
}
