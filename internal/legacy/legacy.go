package legacy

import (
	"encoding/binary"
	"fmt"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/legacy/lift"
	"github.com/go-rntuple/go-rntuple/internal/legacy/rc1"
	"github.com/go-rntuple/go-rntuple/internal/legacy/rc2"
	"github.com/go-rntuple/go-rntuple/internal/legacy/v0"
	"github.com/go-rntuple/go-rntuple/internal/metadata"
)

// Version returns the version of a pre-release format in the usual notation, with
// the name of the release candidate.
func Version(a *anchor.Anchor) string {
	v := a.Version()
	if a.Epoch > 0 {
		return v
	}
	root := "6.33"
	if a.ClassVersion == classRC2 {
		root = "6.32"
	}
	return fmt.Sprintf("%s, pre-release RC%d, ROOT %s", v, a.Major, root)
}

// Parse reads the header and the footer that a points to.
func Parse(a *anchor.Anchor, header, footer []byte) (*metadata.Metadata, error) {
	switch {
	case a.ClassVersion >= classRC2 && a.Epoch == 0 && a.Major == 2:
		return parseRC2(a, header, footer)
	case a.ClassVersion >= classRC2:
		return nil, frame.Unsupported("pre-release format %s in an anchor of class version %d", a.Version(), a.ClassVersion)
	case len(header) < 4:
		return nil, &frame.FormatError{Path: "header", Err: frame.Corrupt("need 4 bytes, have %d", len(header))}
	}
	switch versions := binary.LittleEndian.Uint32(header); versions {
	case 0:
		return parseV0(a, header, footer)
	case rc1.Version | rc1.Version<<16:
		return parseRC1(a, header, footer)
	default:
		return nil, &frame.FormatError{Path: "header.version",
			Err: frame.Unsupported("pre-release format with the version %d and the minimum version %d",
				versions&0xffff, versions>>16)}
	}
}

func parseV0(a *anchor.Anchor, header, footer []byte) (*metadata.Metadata, error) {
	h, err := v0.ParseHeader(header)
	if err != nil {
		return nil, err
	}
	f, err := v0.ParseFooter(footer)
	if err != nil {
		return nil, err
	}
	m := &metadata.Metadata{Version: "pre-release, ROOT 6.20 to 6.24", HeaderChecksum: lift.Checksum(header)}
	var list *envelope.PageList
	if m.Header, m.Footer, list, err = v0.Lift(h, f, a.LenHeader, a.LenFooter); err != nil {
		return nil, err
	}
	list.HeaderChecksum = m.HeaderChecksum
	m.Footer.HeaderChecksum = m.HeaderChecksum
	m.PageList = func(int, []byte) (*envelope.PageList, error) { return list, nil }
	return m, nil
}

func parseRC1(a *anchor.Anchor, header, footer []byte) (*metadata.Metadata, error) {
	h, err := rc1.ParseHeader(header)
	if err != nil {
		return nil, err
	}
	f, err := rc1.ParseFooter(footer)
	if err != nil {
		return nil, err
	}
	m := &metadata.Metadata{Version: "pre-release RC1, ROOT 6.26", HeaderChecksum: lift.Checksum(header)}
	if a.ClassVersion > 0 {
		m.Version = "pre-release RC1, ROOT 6.28 to 6.30"
	}
	if m.Header, m.Footer, err = rc1.Lift(h, f); err != nil {
		return nil, err
	}
	columns := len(m.Header.Columns) + len(m.Footer.Extension.Columns)
	m.PageList = func(group int, b []byte) (*envelope.PageList, error) {
		p, err := rc1.ParsePageList(b)
		if err != nil {
			return nil, err
		}
		return f.LiftPageList(group, p, columns)
	}
	return m, nil
}

func parseRC2(a *anchor.Anchor, header, footer []byte) (*metadata.Metadata, error) {
	h, err := rc2.ParseHeader(header)
	if err != nil {
		return nil, err
	}
	f, err := rc2.ParseFooter(footer)
	if err != nil {
		return nil, err
	}
	m := &metadata.Metadata{
		Version: Version(a), HeaderChecksum: envelope.Checksum(header),
		PageList: func(_ int, b []byte) (*envelope.PageList, error) { return envelope.ParsePageList(b) },
	}
	m.Header, m.Footer = rc2.Lift(h, f)
	return m, nil
}
