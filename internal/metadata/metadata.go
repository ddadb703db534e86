package metadata

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
)

// Metadata is the metadata of an RNTuple, in the form of format 1.
type Metadata struct {
	Version        string // in words if it is before 1.0.0.0, with the versions of ROOT that wrote the dialect
	HeaderChecksum uint64
	Header         *envelope.Header
	Footer         *envelope.Footer
	// PageList reads the page list of the cluster group with the given index,
	// which may be empty. It is nil if the list is one of the current format.
	PageList func(group int, b []byte) (*envelope.PageList, error)
}

// Parse reads header and footer of the current format, which a points to.
func Parse(a *anchor.Anchor, header, footer []byte) (m *Metadata, err error) {
	m = &Metadata{Version: version(a)}
	if m.Header, err = envelope.ParseHeader(header); err != nil {
		return nil, err
	}
	if err := m.Header.Features.Supported(); err != nil { // otherwise the footer may have another layout
		return nil, err
	}
	m.HeaderChecksum = envelope.Checksum(header)
	m.Footer, err = envelope.ParseFooter(footer)
	return m, err
}

// version returns the version of the current format in the usual notation. The last release
// candidate has the format of 1.0.0.0, and its name is added.
func version(a *anchor.Anchor) string {
	if a.Epoch == 0 {
		return fmt.Sprintf("%s, pre-release RC%d, ROOT 6.35", a.Version(), a.Major)
	}
	return a.Version()
}
