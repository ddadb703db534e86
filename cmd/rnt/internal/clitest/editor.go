package clitest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
)

// An Editor makes files that ROOT does not write, by appending to dimuon.root. Its
// methods return the key of what they append.
type Editor struct {
	*testing.T
	file []byte
	root *rootfile.File
	Key  rootfile.Key // of the RNTuple that is there
}

// NewEditor returns an editor of the file at a path, dimuon.root.
func NewEditor(t *testing.T, dimuon string) *Editor {
	t.Helper()
	e := &Editor{T: t}
	var err error
	e.file, err = os.ReadFile(dimuon)
	e.check(err)
	e.root, err = rootfile.Open(bytes.NewReader(e.file), int64(len(e.file)))
	e.check(err)
	e.Key, err = e.root.Find("Events")
	e.check(err)
	return e
}

func (e *Editor) check(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e *Editor) append(b []byte, err error) (offset int64) {
	e.Helper()
	e.check(err)
	offset = int64(len(e.file))
	e.file = append(e.file, b...)
	return offset
}

// Object appends an uncompressed object of the given class.
func (e *Editor) Object(class, name string, payload []byte) rootfile.Key {
	e.Helper()
	k := e.Key
	k.Class, k.Name, k.SeekKey = class, name, int64(len(e.file))
	k.KeyLen, k.ObjLen = uint16(k.Size()), uint32(len(payload))
	k.NBytes = int32(k.KeyLen) + int32(len(payload))
	c := frame.NewWriter(nil, "key").BigEndian()
	k.Wire(c)
	e.append(c.Bytes())
	e.append(payload, nil)
	return k
}

// NTuple appends an RNTuple with the pages of Events and a header that edit has
// changed.
func (e *Editor) NTuple(name string, edit func(*envelope.Header)) rootfile.Key {
	e.Helper()
	object, err := e.root.Payload(e.Key)
	e.check(err)
	a, err := anchor.Parse(object)
	e.check(err)
	blobs := pagesource.Blobs{R: bytes.NewReader(e.file), Size: int64(len(e.file)), MaxKeySize: a.MaxKeySize}
	read := func(name string, l locator.Link) []byte {
		b, err := blobs.Envelope(e.Context(), name, l)
		e.check(err)
		return b
	}
	header, err := envelope.ParseHeader(read("header", a.Header()))
	e.check(err)
	footer, err := envelope.ParseFooter(read("footer", a.Footer()))
	e.check(err)
	list, err := envelope.ParsePageList(read("page list", footer.ClusterGroups[0].PageList))
	e.check(err)

	edit(header)
	b, err := header.Append(nil)
	a.SeekHeader, a.NBytesHeader, a.LenHeader = uint64(e.append(b, err)), uint64(len(b)), uint64(len(b))
	list.HeaderChecksum = envelope.Checksum(b)
	footer.HeaderChecksum = envelope.Checksum(b)
	b, err = list.Append(nil)
	footer.ClusterGroups[0].PageList = locator.Link{Length: uint64(len(b)),
		Locator: locator.At(uint64(e.append(b, err)), uint64(len(b)))}
	b, err = footer.Append(nil)
	a.SeekFooter, a.NBytesFooter, a.LenFooter = uint64(e.append(b, err)), uint64(len(b)), uint64(len(b))
	b, err = a.Append(nil)
	e.check(err)
	return e.Object(anchor.ClassName, name, b)
}

// Write writes the file with the given keys in its top directory and returns
// its path.
func (e *Editor) Write(keys ...rootfile.Key) string {
	e.Helper()
	list := rootfile.KeyList{Key: e.Key, Keys: keys}
	root := e.root.Root
	root.SeekKeys = int64(len(e.file))
	list.Key.Class, list.Key.SeekKey, list.Key.SeekPdir = "TFile", root.SeekKeys, root.SeekDir
	c := frame.NewWriter(nil, "keys").BigEndian()
	list.Wire(c)
	b, err := c.Bytes()
	e.check(err)
	root.NBytesKeys = uint32(len(b))
	list.Key.NBytes = int32(len(b))
	c = frame.NewWriter(nil, "keys").BigEndian()
	list.Wire(c)
	e.append(c.Bytes())
	c = frame.NewWriter(nil, "root").BigEndian()
	root.Wire(c)
	b, err = c.Bytes()
	e.check(err)
	copy(e.file[e.root.Header.Begin:], b)
	path := filepath.Join(e.TempDir(), "edited.root")
	e.check(os.WriteFile(path, e.file, 0o600))
	return path
}
