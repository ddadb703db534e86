package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/legacy"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
)

// A container is the file around the RNTuples.
type container struct {
	*verifier
	file     *rootfile.File // nil if the file is bare: without records
	end      int64          // end of the records
	anchors  []anchorObject
	complete bool // all lists of keys have been read
	old      bool // an RNTuple has a pre-release format

	lists   map[int64]bool   // lists of keys, by position
	budget  int64            // size of the lists of keys that may still be read
	known   map[int64]string // records that something refers to, by position
	free    []rootfile.Segment
	records []record // by position
}

// An anchorObject is the serialized anchor of an RNTuple.
type anchorObject struct {
	path   string
	class  string
	object []byte
	offset int64 // of its record
}

// container checks the file up to the anchors. It returns nil if that fails.
func (v *verifier) container() *container {
	c := &container{verifier: v, lists: map[int64]bool{}, known: map[int64]string{}, budget: v.size, complete: true}
	file, err := rootfile.Open(v.r, v.size)
	if errors.Is(err, frame.ErrUnsupported) {
		if bare, bareErr := legacy.ReadBare(v.r, v.size); bareErr != nil {
			err = bareErr
		} else if bare != nil {
			v.skip("records and free segments: the file is a bare RNTuple and has none")
			c.anchors = []anchorObject{{bare.Name, bare.Class, bare.Anchor, 0}}
			return c
		}
	}
	if err != nil {
		c.problem("header of the file", 0, err)
		return nil
	}
	c.file, c.end = file, min(file.Header.End, v.size)
	c.header()
	c.directory("", file.Root.Directory, int64(file.Header.Begin), file.Header.NBytesName, 0)
	c.freeList()
	c.infos()
	return c
}

// problem reports a problem of the container. An offset of -1 is unknown.
func (c *container) problem(part string, offset int64, err error) {
	c.report(Problem{Part: part, Offset: offset, Check: Container, Err: err}.nowhere())
}

func (c *container) corrupt(part string, offset int64, format string, args ...any) {
	c.problem(part, offset, frame.Corrupt(format, args...))
}

// odd reports what is unusual in the container and does no harm.
func (c *container) odd(part string, offset int64, format string, args ...any) {
	c.report(Problem{Severity: Oddity, Part: part, Offset: offset, Check: Container,
		Err: fmt.Errorf(format, args...)}.nowhere())
}

// header checks the header of the file and the first record.
func (c *container) header() {
	h, root := &c.file.Header, &c.file.Root
	const part = "header of the file"
	begin := int64(h.Begin)
	if h.End > c.size {
		c.corrupt(part, 0, "the file is truncated: it has %d of %d bytes", c.size, h.End)
	}
	switch {
	case h.SeekFree != 0:
	case h.End == c.size:
		c.odd(part, 0, "there is no free list: nothing can be added to the file")
	default:
		c.corrupt(part, 0, "there is no free list, and the file does not end at %#x: it was never closed, or its writer crashed", h.End)
	}
	if h.SeekInfo == 0 {
		c.skip("streamer infos: the file has none")
	}
	const first = "first record"
	c.known[begin] = first
	c.checkOwn(first, begin, &root.Key, 0, int64(root.Key.NBytes), true)
	if c.file.Misnamed != nil {
		c.odd(first, begin, "the names before the top directory do not end where it begins, at %#x",
			begin+int64(h.NBytesName))
	}
}

// checkKey checks the key of a record at offset that belongs to the directory dir.
// It reports whether the record can be used.
func (c *container) checkKey(part string, offset int64, k *rootfile.Key, dir int64) bool {
	n := c.summary.Problems
	switch {
	case k.SeekKey != offset:
		c.corrupt(part, offset, "its key says that it lies at %#x", k.SeekKey)
	case !knownVersion(k.Version, rootfile.KeyVersion):
		c.corrupt(part, offset, "unknown version %d of its key", k.Version)
	case int(k.KeyLen) != k.Size():
		c.corrupt(part, offset, "its key has %d bytes, and says %d", k.Size(), k.KeyLen)
	case int64(k.NBytes) < int64(k.KeyLen):
		c.corrupt(part, offset, "record of %d bytes with a key of %d", k.NBytes, k.KeyLen)
	case offset > c.end-int64(k.NBytes):
		c.corrupt(part, offset, "record of %d bytes, the file ends at %#x", k.NBytes, c.end)
	case k.SeekPdir != dir:
		c.corrupt(part, offset, "its key says that it is in the directory at %#x, expected %#x", k.SeekPdir, dir)
	}
	return c.summary.Problems == n
}

// checkOwn checks the key of one of the file's own records. Another record states that it
// has nbytes bytes; if plain is set, it must not be compressed.
func (c *container) checkOwn(part string, offset int64, k *rootfile.Key, dir, nbytes int64, plain bool) bool {
	n := c.summary.Problems
	switch payload := nbytes - int64(k.KeyLen); {
	case !c.checkKey(part, offset, k, dir):
	case int64(k.NBytes) != nbytes:
		c.corrupt(part, offset, "its key says that it has %d bytes, expected %d", k.NBytes, nbytes)
	case plain && int64(k.ObjLen) != payload:
		c.corrupt(part, offset, "its key says that it holds %d bytes, expected %d", k.ObjLen, payload)
	case k.ProcessID != 0:
		c.corrupt(part, offset, "its key has a process id, %d", k.ProcessID)
	}
	return c.summary.Problems == n
}

// bytes reads n bytes of the file.
func (c *container) bytes(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || offset > c.size || n > c.size-offset {
		return nil, frame.Corrupt("%d bytes at %#x, the file has %d", n, offset, c.size)
	}
	b := make([]byte, n)
	got, err := c.r.ReadAt(b, offset)
	if int64(got) == n || err == nil {
		return b, nil
	}
	if errors.Is(err, io.EOF) {
		err = frame.Corrupt("the file ends after %d of %d bytes", got, n)
	}
	return nil, err
}

// read reads a record of n bytes into r, and reports a problem if that fails.
func (c *container) read(part string, offset, n int64, r interface{ Wire(*frame.Codec) }) bool {
	b, err := c.bytes(offset, n)
	if err == nil {
		codec := frame.NewReader(b, part, offset).BigEndian()
		r.Wire(codec)
		err = codec.Err()
	}
	if err != nil {
		c.problem(part, offset, cause(err, offset))
	}
	return err == nil
}

// maxDepth is the maximum depth of nested directories, as for readers.
const maxDepth = 100

// directory checks the directory at path, which follows names bytes in the record at
// offset, and everything that it lists.
func (c *container) directory(path string, d rootfile.Directory, offset int64, names uint32, depth int) {
	part := "top directory"
	if path != "" {
		part = fmt.Sprintf("directory %q", path)
	}
	if !knownVersion(d.Version, rootfile.DirectoryVersion) {
		c.corrupt(part, offset, "unknown version %d", d.Version)
	}
	if d.SeekDir != offset {
		c.corrupt(part, offset, "it says that it lies at %#x", d.SeekDir)
	}
	if d.NBytesName != names {
		c.odd(part, offset, "it says that it is behind %d bytes, expected %d", d.NBytesName, names)
	}
	if d.SeekKeys == 0 {
		return
	}
	list := "list of keys of the " + part
	n := int64(d.NBytesKeys)
	switch c.budget -= n; {
	case c.lists[d.SeekKeys]:
		c.corrupt(list, d.SeekKeys, "is also that of another directory")
	case c.budget < 0:
		c.corrupt(list, d.SeekKeys, "lists of keys overlap: with this one, of %d bytes, they are longer than the file", n)
	case depth > maxDepth:
		c.problem(list, d.SeekKeys, frame.Unsupported("directories are nested more than %d deep", maxDepth))
	default:
		c.lists[d.SeekKeys] = true
		c.known[d.SeekKeys] = list
		var l rootfile.KeyList
		if c.read(list, d.SeekKeys, n, &l) {
			in := offset
			if l.Key.SeekPdir != offset && l.Of(d, c.file.Root.SeekDir) {
				in = l.Key.SeekPdir
				c.odd(list, d.SeekKeys, "its key says that it is in the directory at %#x, expected %#x", in, offset)
			}
			c.checkOwn(list, d.SeekKeys, &l.Key, in, n, true)
			if err := c.file.CheckCount(&l); err != nil {
				c.problem(list, d.SeekKeys, err)
			} else if n := len(l.Extra); n != 0 && n != 8 { // which TFile adds in big files
				c.odd(list, d.SeekKeys, "%d unused bytes after the %d keys", n, len(l.Keys))
			}
			c.keys(path, d, l.Keys, depth)
			return
		}
	}
	c.complete = false
}

// keys checks the keys that a directory lists, and their objects.
func (c *container) keys(dir string, d rootfile.Directory, keys []rootfile.Key, depth int) {
	type name struct {
		name  string
		cycle int
	}
	seen := map[name]bool{}
	newest := map[string]int{}
	for i := range keys {
		newest[keys[i].Name] = max(newest[keys[i].Name], keys[i].CycleNumber())
	}
	for i := range keys {
		if c.stopped() != nil {
			return
		}
		k := &keys[i]
		path := strings.TrimPrefix(dir+"/"+k.Name, "/")
		part := fmt.Sprintf("%s %q", k.Class, path)
		if seen[name{k.Name, k.CycleNumber()}] {
			c.corrupt(part, k.SeekKey, "two objects have this name and the cycle %d", k.CycleNumber())
		}
		seen[name{k.Name, k.CycleNumber()}] = true
		if k.Name == "" || strings.ContainsAny(k.Name, "/;") {
			c.odd(part, k.SeekKey, "no path leads to this name")
		}
		if c.known[k.SeekKey] != "" {
			c.corrupt(part, k.SeekKey, "its record is also that of the %s", c.known[k.SeekKey])
			continue
		}
		c.known[k.SeekKey] = part
		ok := c.checkKey(part, k.SeekKey, k, d.SeekDir)
		c.compare(part, k)
		path += cycleOf(k, newest[k.Name])
		c.object(path, part, k, ok, depth)
	}
}

// cycleOf returns the suffix that selects the cycle of k in a path: none for the newest.
func cycleOf(k *rootfile.Key, newest int) string {
	if k.CycleNumber() == newest {
		return ""
	}
	return fmt.Sprintf(";%d", k.CycleNumber())
}

// compare checks that the record of a listed key begins with that key. The record may name
// another directory: where its own was before that was moved. Nobody reads it.
func (c *container) compare(part string, k *rootfile.Key) {
	w := frame.NewWriter(nil, part).BigEndian()
	k.Wire(w)
	want, err := w.Bytes()
	if err != nil {
		c.corrupt(part, k.SeekKey, "%v", err)
		return
	}
	got, err := c.bytes(k.SeekKey, int64(len(want)))
	if err == nil {
		first, end := 22, 26
		if k.Big() {
			first, end = 28, 34 // behind the process id
		}
		copy(got[first:end], want[first:end])
	}
	switch {
	case err != nil:
		c.problem(part, k.SeekKey, err)
	case !bytes.Equal(got, want):
		at := 0
		for got[at] == want[at] {
			at++
		}
		c.corrupt(part, k.SeekKey, "its key differs from the one that the directory lists: byte %d is %#02x, expected %#02x",
			at, got[at], want[at])
	}
}

// object checks the object with the key k.
func (c *container) object(path, part string, k *rootfile.Key, ok bool, depth int) {
	isAnchor := anchor.IsClass(k.Class)
	switch {
	case k.Class == "TDirectory" || k.Class == "TDirectoryFile":
		var d rootfile.Directory
		at := k.SeekKey + int64(k.KeyLen)
		if c.read(part, at, max(0, min(c.end-at, 60)), &d) {
			c.directory(path, d, k.SeekKey, uint32(k.KeyLen), depth+1)
		} else {
			c.complete = false
		}
		return
	case isAnchor && k.ObjLen > anchor.MaxSize:
		c.corrupt(part, k.SeekKey, "an anchor of %d bytes", k.ObjLen)
	case int64(k.ObjLen) > c.Limits.PageBytes:
		c.problem(part, k.SeekKey, &frame.LimitError{Limit: "PageBytes", What: "object", Need: int64(k.ObjLen),
			Have: c.Limits.PageBytes})
	case isAnchor || ok:
		object, err := c.file.Payload(*k)
		if err != nil {
			c.problem(part, k.SeekKey, cause(err, k.SeekKey+int64(k.KeyLen)))
		} else if len(object) != int(k.ObjLen) {
			c.corrupt(part, k.SeekKey, "%d bytes, expected %d", len(object), k.ObjLen)
		}
		if err == nil && isAnchor {
			c.anchors = append(c.anchors, anchorObject{path, k.Class, object, k.SeekKey})
			c.old = c.old || k.Class == anchor.ExperimentalClassName
		}
	}
}

// freeList checks the list of free segments.
func (c *container) freeList() {
	h := &c.file.Header
	if h.SeekFree == 0 {
		return
	}
	const part = "free list"
	c.known[h.SeekFree] = part
	var l rootfile.FreeList
	if !c.read(part, h.SeekFree, int64(h.NBytesFree), &l) {
		return
	}
	c.checkOwn(part, h.SeekFree, &l.Key, int64(h.Begin), int64(h.NBytesFree), true)
	if n := len(l.Extra); n > 0 {
		c.odd(part, h.SeekFree, "%d zeros after the %d segments", n, len(l.Segments))
	}
	n := len(l.Segments)
	if n == 0 {
		c.corrupt(part, h.SeekFree, "is empty")
		return
	}
	// ROOT's simple writer lets a last segment in the big form begin with the last 8
	// bytes of the file.
	last := l.Segments[n-1]
	if last.First != h.End && !(last.Big() && last.First == h.End-8) {
		c.corrupt(part, h.SeekFree, "the last segment begins at %#x, the file ends at %#x", last.First, h.End)
	}
	for i, s := range l.Segments {
		if !knownVersion(s.Version, 1) || s.First > s.Last || i > 0 && s.First <= l.Segments[i-1].Last ||
			s.First < int64(h.Begin) {
			c.corrupt(part, h.SeekFree, "segment %d from %#x to %#x, of version %d", i, s.First, s.Last, s.Version)
			continue
		}
		if i < n-1 {
			c.free = append(c.free, s)
		}
	}
}

// infos checks the record of the streamer infos, but not its content.
func (c *container) infos() {
	h := &c.file.Header
	if h.SeekInfo == 0 {
		return
	}
	const part = "streamer infos"
	c.known[h.SeekInfo] = part
	var k rootfile.Key
	if !c.read(part, h.SeekInfo, int64(h.NBytesInfo), &k) ||
		!c.checkOwn(part, h.SeekInfo, &k, int64(h.Begin), int64(h.NBytesInfo), false) {
		return
	}
	if err := c.file.CheckInfos(k); err != nil {
		c.problem(part, h.SeekInfo, err)
	}
}

// knownVersion reports whether v is a version of the small or the big form of a
// record, whose latest one is given.
func knownVersion(v, latest uint16) bool {
	if v > rootfile.BigVersion {
		v -= rootfile.BigVersion
	}
	return 0 < v && v <= latest
}
