package s3

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
)

// TestNativeClaims has anchors and locators that claim what is not so, or is not read. Memory is
// not allocated for what they claim.
func TestNativeClaims(t *testing.T) {
	s := newStore(t)
	file := filepath.Join(remotetest.Good(t), severalPages)
	infos, err := rntuple.ListFile(context.Background(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	locators := func(change func(payload []byte) locator.Locator) func(o *remotetest.Objects) {
		return func(o *remotetest.Objects) {
			o.Locate = func(l locator.Locator) locator.Locator { return change([]byte(l.Payload)) }
			o.TakeApart(t, file, infos[0].Path)
		}
	}
	object := func(payload []byte) locator.Locator {
		return locator.Locator{Type: locator.Object, Payload: string(payload)}
	}
	member := func(name string, value any) func(o *remotetest.Objects) {
		return func(o *remotetest.Objects) { o.Anchor[name] = value }
	}
	for _, test := range []struct {
		name string
		make func(o *remotetest.Objects)
		is   error
		want string
	}{
		{"as it is", func(*remotetest.Objects) {}, nil, ""},
		{"64-bit sizes", locators(func(p []byte) locator.Locator {
			return object(append(binary.LittleEndian.AppendUint64(nil, uint64(binary.LittleEndian.Uint32(p))), p[4:]...))
		}), nil, ""},
		{"another version", member("anchorVersion", 1), frame.ErrUnsupported, "anchor.anchorVersion"},
		{"another epoch", member("formatVersionEpoch", 2), frame.ErrUnsupported, "newer than this library"},
		{"an offset", member("headerOffset", 1), frame.ErrUnsupported, "only whole objects are read"},
		{"another template", member("urlTemplate", "${baseurl}/x/${objid}"), fs.ErrNotExist, "object 0"},
		{"a header of 1 GiB", member("nBytesHeader", 1<<30), frame.ErrCorrupt, "expected 1073741824"},
		{"a header of 1 MB", member("nBytesHeader", 1e6), frame.ErrCorrupt, "expected 1000000"},
		{"a header of 1 GiB, uncompressed", member("lenHeader", 1<<30), frame.ErrCorrupt, "header"},
		{"a header of 1 TiB, uncompressed", member("lenHeader", int64(1)<<40), frame.ErrUnsupported, "EnvelopeBytes"},
		{"a footer elsewhere", member("footerObjId", 0), frame.ErrCorrupt, "object 0"},
		{"locators of type Multi", locators(func(p []byte) locator.Locator {
			return locator.Locator{Type: locator.Multi,
				Payload: string(p)}
		}),
			frame.ErrUnsupported, "locator of type Multi (0x03)"},
		{"locators in files", locators(func([]byte) locator.Locator { return locator.At(8, 8) }), frame.ErrUnsupported,
			"locator of type File (0x00)"},
		{"short locators", locators(func(p []byte) locator.Locator { return object(p[:11]) }), frame.ErrCorrupt,
			"Object64 locator of 11 bytes"},
		{"objects of 1 GiB", locators(func(p []byte) locator.Locator {
			return object(append([]byte{0, 0, 0, 0x40},
				p[4:]...))
		}), frame.ErrCorrupt, "1073741824"},
		{"objects of 2 GiB", locators(func(p []byte) locator.Locator {
			return object(append([]byte{0, 0, 0, 0x80},
				p[4:]...))
		}), frame.ErrUnsupported, "2147483648"},
		{"objects with high numbers", locators(func(p []byte) locator.Locator { p[11] = 1; return object(p) }),
			frame.ErrUnsupported, "objects are read"},
		{"objects that are missing", locators(func(p []byte) locator.Locator { p[7] = 1; return object(p) }),
			fs.ErrNotExist, "object 1677"},
	} {
		s.reset()
		o := remotetest.TakeApart(t, file, infos[0].Path)
		test.make(o)
		o.Put(t, "bucket/n", s.put)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := remotetest.Values(s.native("bucket/n"), "", nil)
		if !errors.Is(err, test.is) || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; test.is != nil && n > 64<<20 {
			t.Errorf("%s: %d bytes were allocated", test.name, n)
		}
		problems := 0
		_, err = verify.File(t.Context(), s.native("bucket/n"), func(verify.Problem) error { problems++; return nil }, nil)
		if err != nil || (problems > 0) != (test.is != nil) {
			t.Errorf("%s: %d problems, %v", test.name, problems, err)
		}
	}
}

// TestNativeLarge has a header that is so large that the store is asked about it before.
func TestNativeLarge(t *testing.T) {
	s := newStore(t)
	path := filepath.Join(t.TempDir(), "large.root")
	w, err := rntuple.Create[struct{ X int64 }](path, "n",
		&rntuple.WriteOptions{Description: strings.Repeat("long ", 1<<18), Compression: compress.None})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o := remotetest.TakeApart(t, path, "n")
	o.Put(t, "bucket/n", s.put)
	r, err := rntuple.Open(s.native("bucket/n"), "n", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := s.requests(); !slices.Equal(got, []string{"GET", "HEAD", "GET", "GET"}) {
		t.Errorf("the requests are %q", got)
	}
}
