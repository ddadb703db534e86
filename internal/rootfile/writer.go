package rootfile

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/frame"
)

// Options determine how a file is written. The zero value is useful.
type Options struct {
	Name  string // of the file, as ROOT shows it; without its directory
	Title string

	// Clock gives the time that records carry, to the second, in its own
	// location. Nil: time.Now.
	Clock func() time.Time

	// UUID identifies the file; the UUIDs of its directories are derived from it.
	// Zero stands for a random one. With the same UUID and clock, the same calls
	// write the same bytes.
	UUID [16]byte

	// Compression is recorded as the default of a new file, and the Writer
	// compresses the streamer infos with it. Payloads are passed compressed.
	Compression compress.Settings

	// BigFrom is the file position above which positions are written with 64 bits
	// even where 32 would do. Zero, and larger values, stand for 2000000000, as in
	// ROOT.
	BigFrom int64

	// NoSync leaves out the calls of the target's method Sync; see Commit.
	NoSync bool
}

const (
	defaultBigFrom = 2000000000 // ROOT's kStartBigFile
	begin          = 100        // of the first record, leaving room for the header
	rootVersion    = 64000      // version of ROOT whose records these are

	// sector is the number of bytes that a disk writes wholly or not at all, if they
	// begin at a multiple of it.
	sector = 512

	// maxName is the longest string in a key that ROOT's RNTuple reader accepts: it
	// aborts if the length needs 4 bytes.
	maxName = 254

	// tailBuffer is the number of bytes that are collected for one write. Longer
	// payloads are written without being copied.
	tailBuffer = 64 << 10
)

// A Writer writes a ROOT file. It appends to what is there, and uses the space of what
// is no longer needed; Commit and Close make all of it visible at once. If a write fails
// before that, the file is as the last Commit left it.
//
// An error of the target is sticky: all later calls return it. A Writer must not be
// used by several goroutines at once.
type Writer struct {
	opts Options
	w    io.WriterAt
	r    io.ReaderAt   // the same file, or nil if it cannot be read
	tail *bufio.Writer // writes to the end of the file
	end  int64         // where the next record at the end goes

	// head is the start of the file up to the end of the top directory, as the file has
	// it. If it fits a sector, one write changes all of it: it gives the places of
	// everything else.
	head    []byte
	header  Header
	renamed *Root     // the first record with a name of which the head fits a sector, if it does not yet
	folders []*folder // the top directory first, then in the order of their first use

	// The space that is not in use. Records may be placed in gaps, which the file lists as
	// free. What the next commit makes free is listed by it: freed. What directories need
	// until their records are rewritten, after the write that commits, is listed one
	// commit later: waiting, and then settled. Foreign space is listed as free by the file,
	// but does not look so.
	gaps, foreign           gaps
	freed, waiting, settled []gap

	commits   int   // that this Writer has made
	committed int64 // header.End that the file has
	changed   bool  // there is something to commit
	closing   bool  // the commit that Close adds is being made
	infos     infos
	err       error
}

// An Object is an object that a directory lists under a name.
type Object struct {
	Class, Name, Title string
	// Stored holds the bytes in the file: Len bytes, or fewer if they are
	// compressed.
	Stored []byte
	Len    int
}

// Create starts a new file in w, which should be empty. Before the first Commit or
// Close, its start is not written.
func Create(w io.WriterAt, opts Options) (*Writer, error) {
	if err := opts.complete(); err != nil {
		return nil, err
	}
	f := &Writer{opts: opts, w: w, changed: true, infos: newInfos()}
	f.r, _ = w.(io.ReaderAt)
	f.header = Header{
		Version: rootVersion, Begin: begin, Compression: uint32(opts.Compression),
		UUIDVersion: 1, UUID: opts.UUID,
	}
	now := f.now()
	root := Root{Title: opts.Title}
	root.Key = Key{Version: KeyVersion, Datime: now, Cycle: 1, SeekKey: begin, Class: fileClass, Title: opts.Title}
	root.setName(shortened(&root, opts.Name))
	names := root.Directory.NBytesName
	root.Key.NBytes = int32(names + directorySize)
	root.Key.ObjLen = uint32(root.Key.NBytes) - uint32(root.Key.KeyLen)
	f.header.NBytesName = names
	root.Directory = Directory{
		Version: DirectoryVersion, Created: now, Modified: now,
		NBytesName: names, SeekDir: begin, UUIDVersion: 1, UUID: opts.UUID,
	}
	record, err := encoded(&root)
	if err != nil {
		return nil, err
	}
	f.head = append(make([]byte, begin), record...)
	f.folders = []*folder{{Directory: root.Directory, at: begin + int64(names), class: fileClass, name: root.Name,
		title: opts.Title, changed: true}}
	f.startAt(int64(len(f.head)))
	return f, nil
}

// setName gives the file another name.
func (r *Root) setName(name string) {
	r.Name, r.Key.Name = name, name
	r.Key.KeyLen = uint16(r.Key.Size())
	r.Directory.NBytesName = uint32(r.Key.Size() + stringSize(r.Name) + stringSize(r.Title))
}

// shortened returns the part of a name with which the head of the file fits a sector, if
// there is one, so that a commit cannot be torn. ROOT does not use the name in the record:
// a file may have been renamed.
func shortened(r *Root, name string) string {
	short := name
	for short != "" {
		if r.setName(short); r.Key.SeekKey+int64(r.Directory.NBytesName)+directorySize <= sector {
			return short
		}
		_, n := utf8.DecodeLastRuneInString(short)
		short = short[:len(short)-n]
	}
	return name
}

// complete checks the options and fills in the defaults.
func (o *Options) complete() error {
	if err := checkNames(o.Name, o.Title); err != nil {
		return fmt.Errorf("file: %w", err)
	}
	if _, err := compress.Append(nil, nil, o.Compression); err != nil {
		return fmt.Errorf("streamer infos: %w", err)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.BigFrom <= 0 || o.BigFrom > defaultBigFrom {
		o.BigFrom = defaultBigFrom
	}
	if o.UUID == ([16]byte{}) {
		rand.Read(o.UUID[:])              // never fails
		o.UUID[6] = o.UUID[6]&0x0f | 4<<4 // version 4, random
		o.UUID[8] = o.UUID[8]&0x3f | 0x80 // variant of RFC 4122
	}
	return nil
}

// startAt makes end the position of the next record.
func (w *Writer) startAt(end int64) {
	w.end = end
	to := io.NewOffsetWriter(guarded{w}, end)
	if w.tail == nil {
		w.tail = bufio.NewWriterSize(to, tailBuffer)
	}
	w.tail.Reset(to)
}

func (w *Writer) now() Datime { return MakeDatime(w.opts.Clock()) }

// top returns the top directory.
func (w *Writer) top() *folder { return w.folders[0] }

// Size returns the length of the file as of the last commit. The target may be
// longer: it may have uncommitted records, or bytes that were there before.
func (w *Writer) Size() int64 { return w.committed }

// fail records err, an error of the target, which all later calls return.
func (w *Writer) fail(err error) error {
	w.err = cmp.Or(w.err, err)
	return w.err
}

// place completes a key for its position.
func (w *Writer) place(k *Key, at int64) {
	k.SeekKey = at
	k.Version = cmp.Or(k.Version, KeyVersion)
	if max(k.SeekKey, k.SeekPdir) > w.opts.BigFrom && !k.Big() {
		k.Version += BigVersion
	}
	k.Cycle = cmp.Or(k.Cycle, 1)
	k.KeyLen = uint16(k.Size())
}

// record writes a record: a key, whose position and lengths it fills in, and a payload
// of objLen uncompressed bytes. If reuse is set, it may go where there is free space.
func (w *Writer) record(k Key, objLen int, reuse bool, payload ...[]byte) (Key, error) {
	if w.err != nil {
		return k, w.err
	}
	size := int64(0)
	for _, b := range payload {
		size += int64(len(b))
	}
	i := -1
	if reuse {
		var err error
		if i, err = w.allot(k, size, true, false); err != nil {
			return k, err
		}
	}
	w.place(&k, w.positionOf(i))
	n := int64(k.KeyLen) + size
	if n > math.MaxInt32 || objLen > math.MaxInt32 {
		return k, fmt.Errorf("%s %q: %d bytes do not fit a key", k.Class, k.Name, max(n, int64(objLen)))
	}
	k.NBytes, k.ObjLen, k.Datime = int32(n), uint32(objLen), w.now()
	head, err := encoded(&k)
	if err != nil {
		return k, err
	}
	return k, w.put(i, k, append([][]byte{head}, payload...)...)
}

// put writes the bytes of a record, whose key is k, to the gap with index i or, if that
// is negative, to the end of the file.
func (w *Writer) put(i int, k Key, parts ...[]byte) (err error) {
	w.changed = true
	if i < 0 {
		for _, b := range parts {
			if err == nil {
				_, err = w.tail.Write(b)
			}
		}
		w.end += int64(k.NBytes)
	} else {
		err = w.gaps.fill(guarded{w}, i, slices.Concat(parts...))
	}
	if err != nil {
		return w.fail(fmt.Errorf("%s %q: write at offset %#x: %w", k.Class, k.Name, k.SeekKey, err))
	}
	return nil
}

// Blob appends the concatenation of payload as an RBlob, which no directory
// lists, and returns the offset of the payload. The payload can be reused
// after the call.
func (w *Writer) Blob(payload ...[]byte) (offset int64, err error) { return w.blob(false, payload) }

// SmallBlob is like Blob, but uses free space where there is some. It is for what Free
// makes free again.
func (w *Writer) SmallBlob(payload ...[]byte) (offset int64, err error) {
	return w.blob(true, payload)
}

func (w *Writer) blob(reuse bool, payload [][]byte) (offset int64, err error) {
	n := 0
	for _, b := range payload {
		n += len(b)
	}
	k, err := w.record(*blobKey(), n, reuse, payload...)
	return k.SeekKey + int64(k.KeyLen), err
}

// Unlisted appends an object that no directory lists, and returns the offset
// of its payload.
func (w *Writer) Unlisted(o Object) (offset int64, err error) {
	k, err := w.object(w.top(), o, 1)
	return k.SeekKey + int64(k.KeyLen), err
}

// Object appends an object and lists it in a directory, which is created if
// necessary: "" is the top one, "a/b" one in another. An existing object of that
// name stays, with a lower cycle.
func (w *Writer) Object(dir string, o Object) (Key, error) {
	d, err := w.folder(dir)
	if err != nil {
		return Key{}, err
	}
	if slices.ContainsFunc(d.keys, func(k Key) bool { return k.Name == o.Name && isDirectory(k) }) {
		return Key{}, fmt.Errorf("%q is a directory", join(d.path, o.Name))
	}
	cycle, err := d.nextCycle(o.Name)
	if err != nil {
		return Key{}, err
	}
	k, err := w.object(d, o, cycle)
	if err == nil {
		d.insert(k)
	}
	return k, err
}

// Replace appends an object and lists it in place of the one whose key Object
// returned, with the same cycle. The space of the old object is free after the next
// Commit.
func (w *Writer) Replace(dir string, old Key, o Object) (Key, error) {
	d, err := w.folder(dir)
	if err != nil {
		return Key{}, err
	}
	if o.Name != old.Name {
		return Key{}, fmt.Errorf("%q: %w in %s", old.Name, ErrNotFound, directoryName(dir))
	}
	return w.replace(d, old, o, old.Cycle)
}

// replace appends an object and lists it in place of the one with the key old.
func (w *Writer) replace(d *folder, old Key, o Object, cycle int16) (Key, error) {
	i := slices.IndexFunc(d.keys, func(k Key) bool { return k.SeekKey == old.SeekKey })
	if i < 0 {
		return Key{}, fmt.Errorf("%q: %w in %s", old.Name, ErrNotFound, directoryName(d.path))
	}
	k, err := w.object(d, o, cycle)
	if err != nil {
		return Key{}, err
	}
	d.keys[i], d.changed = k, true
	w.release(d, old.SeekKey, int64(old.NBytes))
	return k, nil
}

func (w *Writer) object(d *folder, o Object, cycle int16) (Key, error) {
	if err := checkNames(o.Class, o.Name, o.Title); err != nil {
		return Key{}, fmt.Errorf("object %q: %w", o.Name, err)
	}
	if len(o.Stored) > o.Len {
		return Key{}, fmt.Errorf("object %q: %d bytes stored for an object of %d", o.Name, len(o.Stored), o.Len)
	}
	return w.record(Key{Cycle: cycle, SeekPdir: d.SeekDir, Class: o.Class, Name: o.Name, Title: o.Title}, o.Len, true,
		o.Stored)
}

// checkNames returns an error if ROOT would not read one of the strings of a key.
func checkNames(names ...string) error {
	for _, s := range names {
		if len(s) > maxName {
			return fmt.Errorf("name of %d bytes, %.20q..., is too long: at most %d", len(s), s, maxName)
		}
	}
	return nil
}

// encoded returns the bytes of a record.
func encoded(r interface{ Wire(*frame.Codec) }) ([]byte, error) {
	c := frame.NewWriter(nil, "record").BigEndian()
	r.Wire(c)
	return c.Bytes()
}

var errClosed = errors.New("the ROOT file is closed")

// nextUUID returns the UUID of the next directory: that of the file, with its first
// word counted up.
func (w *Writer) nextUUID() [16]byte {
	id := w.opts.UUID
	n := binary.BigEndian.Uint32(id[:]) + uint32(len(w.folders))
	binary.BigEndian.PutUint32(id[:], n)
	return id
}

func splitPath(dir string) []string {
	return strings.FieldsFunc(dir, func(r rune) bool { return r == '/' })
}
