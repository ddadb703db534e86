package s3

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/remote/objects"
)

// A nativeAnchor is the anchor of an RNTuple in ROOT's S3 layout: a JSON object. Numbers of objects
// and sizes are those of the compressed envelopes; Len members are the sizes of the uncompressed
// ones.
//
// Source: ROOT class RNTupleAnchorS3, header ROOT/RPageStorageS3.hxx, pull requests 22470, 22653
// and, for the checksum and the template of clones, 22819.
type nativeAnchor struct {
	Epoch, Major, Minor, Patch uint16

	URLTemplate   string // of objects
	CloneTemplate string // of the base URLs of attribute sets

	HeaderID, HeaderOffset, NBytesHeader, LenHeader uint64
	FooterID, FooterOffset, NBytesFooter, LenFooter uint64
}

// anchorVersion is the one version of the JSON that there is.
const anchorVersion = 0

// parseNative reads an anchor and verifies its checksum. All members are required, as ROOT requires
// them.
func parseNative(text []byte) (*nativeAnchor, error) {
	m := members{path: "anchor"}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // 64-bit integers are not rounded
	switch err := d.Decode(&m.all); {
	case err != nil || m.all == nil:
		return nil, m.fault("", frame.Corrupt("%d bytes that are not a JSON object", len(text)))
	case len(bytes.TrimSpace(text[d.InputOffset():])) > 0 || !utf8.Valid(text):
		return nil, m.fault("", frame.Corrupt("bytes that are not JSON"))
	}
	if v := m.integer("anchorVersion", 32); m.err == nil && v != anchorVersion {
		return nil, m.fault("anchorVersion", frame.Unsupported("%d, known is %d", v, anchorVersion))
	}
	version := func(name string) uint16 { return uint16(m.integer("formatVersion"+name, 16)) }
	a := &nativeAnchor{
		Epoch: version("Epoch"), Major: version("Major"), Minor: version("Minor"), Patch: version("Patch"),
		URLTemplate: m.text("urlTemplate"), CloneTemplate: m.text("cloneTemplate"),
		HeaderID: m.integer("headerObjId", 64), HeaderOffset: m.integer("headerOffset", 64),
		NBytesHeader: m.integer("nBytesHeader", 64), LenHeader: m.integer("lenHeader", 64),
		FooterID: m.integer("footerObjId", 64), FooterOffset: m.integer("footerOffset", 64),
		NBytesFooter: m.integer("nBytesFooter", 64), LenFooter: m.integer("lenFooter", 64),
	}
	stored := m.integer("checksum", 64)
	if m.err != nil {
		return nil, m.err
	}
	delete(m.all, "checksum")
	canonical, err := appendCanonical(nil, m.all)
	if computed := xxh3.Hash(canonical); err == nil && stored != computed {
		err = frame.BadChecksum(stored, computed)
	}
	if err != nil {
		return nil, m.fault("checksum", err)
	}
	return a, nil
}

// members are those of a JSON object.
type members struct {
	path string
	all  map[string]any
	err  error // the first one
}

func (m *members) fault(name string, err error) error {
	path := m.path
	if name != "" {
		path += "." + name
	}
	return &frame.FormatError{Path: path, Err: err}
}

// integer returns a member that is an unsigned integer.
func (m *members) integer(name string, bits int) uint64 {
	n, ok := m.all[name].(json.Number)
	v, err := strconv.ParseUint(string(n), 10, bits)
	if m.err == nil && (!ok || err != nil) {
		m.err = m.fault(name, frame.Corrupt("%s, expected an integer of %d bits", shown(m.all[name]), bits))
	}
	return v
}

// text returns a member that is a string.
func (m *members) text(name string) string {
	s, ok := m.all[name].(string)
	if m.err == nil && !ok {
		m.err = m.fault(name, frame.Corrupt("%s, expected a string", shown(m.all[name])))
	}
	return s
}

func shown(v any) string {
	if v == nil {
		return "missing"
	}
	return fmt.Sprintf("%.40q", fmt.Sprint(v))
}

// appendCanonical appends what the checksum of an anchor covers: the JSON without white space, with
// the members of objects in the order of their names, and without escapes that need not be. That is
// how the JSON library that ROOT uses, nlohmann's, writes it. How that writes other numbers than
// integers is not known for certain, and the anchor has none.
func appendCanonical(b []byte, v any) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		b = append(b, '{')
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendCanonical(append(appendString(b, name), ':'), v[name]); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendCanonical(b, item); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case string:
		return appendString(b, v), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case json.Number:
		_, signed := strconv.ParseInt(string(v), 10, 64)
		_, unsigned := strconv.ParseUint(string(v), 10, 64)
		if signed != nil && unsigned != nil || v == "-0" {
			return nil, frame.Unsupported("cannot be computed of the number %.40s", v)
		}
		return append(b, v...), nil
	}
	return append(b, "null"...), nil
}

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, c := range []byte(s) {
		switch i := strings.IndexByte("\b\t\n\f\r\"\\", c); {
		case i >= 0:
			b = append(b, '\\', `btnfr"\`[i])
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// serialize returns the anchor as it would be in a file, with the numbers of objects as offsets.
func (a *nativeAnchor) serialize() ([]byte, error) {
	offset := func(name string, id, within, size uint64) (uint64, error) {
		at, ok := objects.Offset(id)
		switch {
		case within != 0: // which ROOT's reader does not heed (pull request 23066)
			return 0, frame.Unsupported("the %s begins with byte %d of the object %d; only whole objects are read", name, within,
				id)
		case !ok || size > objects.MaxSize:
			return 0, frame.Unsupported("the %s has %d bytes in object %d, at most %d in one of %d objects are read", name, size,
				id, objects.MaxSize, objects.MaxCount)
		}
		return uint64(at), nil
	}
	header, err := offset("header", a.HeaderID, a.HeaderOffset, a.NBytesHeader)
	if err != nil {
		return nil, &frame.FormatError{Path: "anchor", Err: err}
	}
	footer, err := offset("footer", a.FooterID, a.FooterOffset, a.NBytesFooter)
	if err != nil {
		return nil, &frame.FormatError{Path: "anchor", Err: err}
	}
	return (&anchor.Anchor{
		ClassVersion: anchor.ClassVersion, Epoch: a.Epoch, Major: a.Major, Minor: a.Minor, Patch: a.Patch,
		SeekHeader: header, NBytesHeader: a.NBytesHeader, LenHeader: a.LenHeader,
		SeekFooter: footer, NBytesFooter: a.NBytesFooter, LenFooter: a.LenFooter,
	}).Append(nil)
}

// objects returns a function that returns the URL of an object. ROOT replaces the first one of each
// variable; a template with several of them, or with others, is not known.
func (a *nativeAnchor) objects(base *url.URL) (func(id uint64) (*url.URL, error), error) {
	before, after, ok := strings.Cut(a.URLTemplate, "${objid}")
	fill := func(part string) string { return strings.ReplaceAll(part, "${baseurl}", base.String()) }
	rest := strings.Replace(before+after, "${baseurl}", "", 1)
	at := func(id uint64) (*url.URL, error) {
		u, err := url.Parse(fill(before) + strconv.FormatUint(id, 10) + fill(after))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
			u.ForceQuery || u.Fragment != "" || u.Opaque != "" {
			return nil, frame.Corrupt("%.100q is not the URL of an object", a.URLTemplate)
		}
		if base.Scheme == "https" && u.Scheme != "https" {
			return nil, frame.Unsupported("objects are read by http, the anchor by https")
		}
		return canonicalURL(u), nil
	}
	var err error
	if !ok || strings.Contains(rest, "${") {
		err = frame.Unsupported(`%.100q, known are one "${objid}" and at most one "${baseurl}"`, a.URLTemplate)
	} else {
		_, err = at(0)
	}
	if err != nil {
		return nil, &frame.FormatError{Path: "anchor.urlTemplate", Err: err}
	}
	return at, nil
}
