package s3

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
)

// The checksums of these anchors were computed with the JSON library and the XXH3 of ROOT 6.40:
// nlohmann's dump of the members without the checksum, and RNTupleSerializer::SerializeXxHash3.
const (
	usualAnchor = `{
  "anchorVersion": 0,
  "checksum": 11956514144978958882,
  "cloneTemplate": "${baseurl}/clones/${name}",
  "footerObjId": 42,
  "footerOffset": 0,
  "formatVersionEpoch": 1,
  "formatVersionMajor": 0,
  "formatVersionMinor": 2,
  "formatVersionPatch": 0,
  "headerObjId": 1,
  "headerOffset": 0,
  "lenFooter": 2048,
  "lenHeader": 4096,
  "nBytesFooter": 800,
  "nBytesHeader": 1200,
  "urlTemplate": "https://bucket.s3.us-east-1.amazonaws.com/data/${objid}"
}`
	oddAnchor = `{"checksum": 5492062055588872578,
  "anchorVersion": 0, "formatVersionEpoch": 1, "formatVersionMajor": 0, "formatVersionMinor": 2, "formatVersionPatch": 0,
  "urlTemplate": "${baseurl}/\u0000\u001f\u0001 <&>'\"\\\/\b\t\n\f\r\u007f\u2028é😀${objid}", "cloneTemplate": "",
  "headerObjId": 18446744073709551615, "headerOffset": 9007199254740993, "nBytesHeader": 0, "lenHeader": 4294967296,
  "footerObjId": 1, "footerOffset": 0, "nBytesFooter": 1, "lenFooter": 1,
  "future": {"b": [1, -9223372036854775808, true, false, null, "x", [], {}], "a": {"Z": "", "z": 0, "é": 1}}, "ZZ": "first", "ZZ": "last"
}`
)

func TestNativeAnchor(t *testing.T) {
	a, err := parseNative([]byte(usualAnchor))
	if err != nil {
		t.Fatal(err)
	}
	if want := (nativeAnchor{Epoch: 1, Minor: 2,
		URLTemplate: "https://bucket.s3.us-east-1.amazonaws.com/data/${objid}", CloneTemplate: "${baseurl}/clones/${name}",
		HeaderID: 1, NBytesHeader: 1200, LenHeader: 4096, FooterID: 42, NBytesFooter: 800, LenFooter: 2048,
	}); *a != want {
		t.Errorf("got %+v, want %+v", *a, want)
	}
	if a, err = parseNative([]byte(oddAnchor)); err != nil {
		t.Fatal(err)
	}
	if a.HeaderID != 1<<64-1 || a.HeaderOffset != 1<<53+1 ||
		a.URLTemplate != "${baseurl}/\x00\x1f\x01 <&>'\"\\/\b\t\n\f\r\x7f\u2028é😀${objid}" {
		t.Errorf("got %+v", *a)
	}
}

// TestDamagedNativeAnchor replaces parts of an anchor.
func TestDamagedNativeAnchor(t *testing.T) {
	for _, test := range []struct {
		old, new string
		is       error
		want     string
	}{
		{"", "", frame.ErrCorrupt, "that are not a JSON object"},
		{usualAnchor, "not json at all", frame.ErrCorrupt, "that are not a JSON object"},
		{usualAnchor, "[1, 2, 3]", frame.ErrCorrupt, "that are not a JSON object"},
		{usualAnchor, "null", frame.ErrCorrupt, "that are not a JSON object"},
		{usualAnchor, "   ", frame.ErrCorrupt, "that are not a JSON object"},
		{usualAnchor, usualAnchor[:100], frame.ErrCorrupt, "that are not a JSON object"},
		{usualAnchor, usualAnchor + "x", frame.ErrCorrupt, "bytes that are not JSON"},
		{usualAnchor, usualAnchor + usualAnchor, frame.ErrCorrupt, "bytes that are not JSON"},
		{"clones", "cl\xffnes", frame.ErrCorrupt, "bytes that are not JSON"},
		{`"anchorVersion": 0,`, `"anchorVersion": 1,`, frame.ErrUnsupported, "anchor.anchorVersion"},
		{`"anchorVersion": 0,`, `"anchorVersion": "0",`, frame.ErrCorrupt, "anchor.anchorVersion"},
		{`"anchorVersion": 0,`, ``, frame.ErrCorrupt, "anchor.anchorVersion at offset 0x0: corrupt data: missing"},
		{`"formatVersionEpoch": 1`, `"formatVersionEpoch": 65536`, frame.ErrCorrupt, "anchor.formatVersionEpoch"},
		{`"footerObjId": 42`, `"footerObjId": 43`, frame.ErrChecksum, "anchor.checksum"},
		{`"footerObjId": 42`, `"footerObjId": -42`, frame.ErrCorrupt, "anchor.footerObjId"},
		{`"footerObjId": 42`, `"footerObjId": 42.0`, frame.ErrCorrupt, "anchor.footerObjId"},
		{`"footerObjId": 42`, `"footerObjId": 18446744073709551616`, frame.ErrCorrupt, "anchor.footerObjId"},
		{`"cloneTemplate": "${baseurl}/clones/${name}",`, ``, frame.ErrCorrupt, "anchor.cloneTemplate"},
		{`"${baseurl}/clones/${name}"`, `5`, frame.ErrCorrupt, "anchor.cloneTemplate"},
		{"11956514144978958882", "11956514144978958883", frame.ErrChecksum, "anchor.checksum"},
		{`"checksum": 11956514144978958882,`, ``, frame.ErrCorrupt, "anchor.checksum"},
		{"11956514144978958882", `"11956514144978958882"`, frame.ErrCorrupt, "anchor.checksum"},
		{`"lenFooter"`, `"more": 1, "lenFooter"`, frame.ErrChecksum, "anchor.checksum"},
		{`"lenFooter"`, `"more": 1.5, "lenFooter"`, frame.ErrUnsupported, "the number 1.5"},
		{`"lenFooter"`, `"more": -0, "lenFooter"`, frame.ErrUnsupported, "the number -0"},
		{`"lenFooter"`, `"more": 18446744073709551616, "lenFooter"`, frame.ErrUnsupported, "the number 18446744073709551616"},
	} {
		text := strings.Replace(usualAnchor, test.old, test.new, 1)
		if test.old == "" {
			text = ""
		}
		_, err := parseNative([]byte(text))
		var fault *frame.FormatError
		if !errors.As(err, &fault) || !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q instead of %q: %v, want %q", test.new, test.old, err, test.want)
		}
	}
}

// TestNativeTemplates compares with what ROOT makes of templates, where it is clear what they mean.
func TestNativeTemplates(t *testing.T) {
	for _, test := range []struct {
		base, template, want string
		is                   error
	}{
		{"https://host/bucket/path", "${baseurl}/${objid}", "https://host/bucket/path/7", nil},
		{"http://host:9000/b/a%20b", "${baseurl}/data/${objid}", "http://host:9000/b/a%20b/data/7", nil},
		{"https://host/b/p", "https://bucket.s3.us-east-1.amazonaws.com/data/${objid}",
			"https://bucket.s3.us-east-1.amazonaws.com/data/7", nil},
		{"https://host/b/p", "${baseurl}/x=y ü/${objid}.page", "https://host/b/p/x%3Dy%20%C3%BC/7.page", nil},
		{"http://host/b/p", "https://host/${objid}", "https://host/7", nil},
		{"https://host/b/p", "", "", frame.ErrUnsupported},
		{"https://host/b/p", "${baseurl}/1", "", frame.ErrUnsupported},
		{"https://host/b/p", "${baseurl}/${objid}/${objid}", "", frame.ErrUnsupported},
		{"https://host/b/p", "${baseurl}/${baseurl}/${objid}", "", frame.ErrUnsupported},
		{"https://host/b/p", "${baseurl}/${bucket}/${objid}", "", frame.ErrUnsupported},
		{"https://host/b/p", "http://host/${objid}", "", frame.ErrUnsupported},
		{"https://host/b/p", "${objid}", "", frame.ErrCorrupt},
		{"https://host/b/p", "ftp://host/${objid}", "", frame.ErrCorrupt},
		{"https://host/b/p", "file:///${objid}", "", frame.ErrCorrupt},
		{"https://host/b/p", "https://user:secret@host/${objid}", "", frame.ErrCorrupt},
		{"https://host/b/p", "${baseurl}?id=${objid}", "", frame.ErrCorrupt},
		{"https://host/b/p", "${baseurl}#${objid}", "", frame.ErrCorrupt},
		{"https://host/b/p", "${baseurl}/\n${objid}", "", frame.ErrCorrupt},
	} {
		base, err := url.Parse(test.base)
		if err != nil {
			t.Fatal(err)
		}
		at, err := (&nativeAnchor{URLTemplate: test.template}).objects(canonicalURL(base))
		got := ""
		if err == nil {
			var u *url.URL
			if u, err = at(7); err == nil {
				got = u.String()
			}
		}
		if got != test.want || !errors.Is(err, test.is) {
			t.Errorf("%q with the base URL %s: %s, %v; want %s", test.template, test.base, got, err, test.want)
		}
	}
}

// TestNativePlaces has envelopes in places that are not read.
func TestNativePlaces(t *testing.T) {
	for _, a := range []nativeAnchor{
		{HeaderOffset: 1}, {FooterOffset: 1 << 40}, {HeaderID: 1 << 30}, {FooterID: 1<<64 - 1}, {NBytesHeader: 1<<30 + 1},
		{NBytesFooter: 1<<64 - 1},
	} {
		if _, err := a.serialize(); !errors.Is(err, frame.ErrUnsupported) {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

func FuzzNativeAnchor(f *testing.F) {
	f.Add(usualAnchor)
	f.Add(oddAnchor)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseNative([]byte(text))
		if err != nil {
			if !errors.As(err, new(*frame.FormatError)) {
				t.Error(err)
			}
			return
		}
		if b, err := a.serialize(); err == nil {
			if _, err := anchor.Parse(b); err != nil {
				t.Error(err)
			}
		}
		a.objects(&url.URL{Scheme: "https", Host: "host", Path: "/b"})
	})
}
