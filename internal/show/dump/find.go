package dump

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// at shows the record that holds the byte at an offset.
func (f *file) at(offset int64) error {
	if offset < 0 || offset >= f.size {
		return fmt.Errorf("offset %#x lies beyond the end of the file, %#x", offset, f.size)
	}
	if offset < begin {
		return f.raw("file header", 0, begin, fileHeader, new(rootfile.Header).Wire)
	}
	// There may be bytes between records.
	from, to := int64(begin), f.size
	var found *rootfile.Record
	err := rootfile.Scan(f.ctx, f.r, f.size, func(r rootfile.Record) error {
		if r.SeekKey > offset {
			to = r.SeekKey
			return io.EOF
		}
		from = r.SeekKey + int64(r.NBytes)
		if offset < from {
			found = &r
			return io.EOF
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case found == nil:
		return f.gap(from, to-from)
	}
	return f.record(found.Key)
}

// gap shows bytes that belong to no record. Bytes that ROOT freed begin with their
// negated length, unless they are the rest of a longer gap.
func (f *file) gap(at, n int64) error {
	b, err := f.read(at, min(n, 4))
	if err != nil {
		return err
	}
	marked := len(b) == 4 && b[0]&0x80 != 0
	return f.raw("bytes outside of records", at, n, container, func(c *frame.Codec) {
		if marked {
			frame.Int(c, "nbytes", new(int32))
		}
	})
}

// record shows the record of a key.
func (f *file) record(k rootfile.Key) error {
	whole := func(title string, walk func(*frame.Codec)) error {
		return f.raw(title, k.SeekKey, int64(k.NBytes), container, walk)
	}
	switch {
	case k.SeekKey == begin:
		return whole("first record, with the top directory", new(rootfile.Root).Wire)
	case f.root != nil && k.SeekKey == f.root.Header.SeekFree:
		return whole("list of free segments", new(rootfile.FreeList).Wire)
	case k.Class == rootfile.BlobClassName:
		return f.blob(k)
	case strings.HasPrefix(k.Class, "TDirectory") && k.SeekPdir != k.SeekKey && f.isDirectory(k):
		return whole("directory "+k.Name, walkDirectory)
	case strings.HasPrefix(k.Class, "TDirectory") || k.Class == "TFile" || k.Class == "":
		return whole("list of keys", new(rootfile.KeyList).Wire)
	}
	if err := f.key(k.SeekKey); err != nil {
		return err
	}
	title := fmt.Sprintf("%s %q", k.Class, k.Name)
	switch k.Class {
	case anchor.ClassName, anchor.ExperimentalClassName:
		n := &ntuple{path: k.Name, key: k}
		if k.ObjLen <= anchor.MaxSize {
			n.object, n.err = rootfile.ReadPayload(f.r, f.size, k)
		}
		if n.err == nil && k.Class == anchor.ClassName {
			_, n.err = anchor.Parse(n.object)
		}
		if n.object == nil && n.err == nil {
			n.err = frame.Corrupt("anchor of %d bytes", k.ObjLen)
		}
		return f.anchorObject(n)
	case "TList":
		return f.object(title, k, func(c *frame.Codec) { rootfile.WalkInfos(c, k.KeyLen) })
	}
	return f.object(title, k, func(*frame.Codec) {})
}

// isDirectory reports whether the record of k holds a directory rather than its list
// of keys.
func (f *file) isDirectory(k rootfile.Key) bool {
	d, err := f.directory(k)
	return err == nil && d.SeekDir == k.SeekKey
}

// blob shows an RBlob: an envelope, or pages.
func (f *file) blob(k rootfile.Key) error {
	if err := f.key(k.SeekKey); err != nil {
		return err
	}
	at, n := k.SeekKey+int64(k.KeyLen), int64(k.NBytes)-int64(k.KeyLen)
	b, err := f.read(at, n)
	if err != nil {
		return err
	}
	var known []Line
	if f.root != nil {
		list, _ := f.ntuples()
		for _, nt := range list {
			r, lines := f.within(nt, at, b)
			if r != nil {
				return f.emit(r)
			}
			known = append(known, lines...)
		}
	}
	if len(b) >= 8 {
		if word := binary.LittleEndian.Uint64(b); word>>16 == uint64(len(b)) && word&0xffff <= 3 {
			n := &ntuple{anchor: &anchor.Anchor{}}
			l := locator.Link{Length: uint64(len(b)), Locator: locator.At(uint64(at), uint64(len(b)))}
			t := envelope.Type(word)
			return f.emit(describeEnvelope(fmt.Sprintf("%v that no RNTuple refers to", t), n, t, l, b))
		}
	}
	return f.emit(pagesRecord(at, b, known))
}

// within returns the envelope of an RNTuple that begins at an offset or, if there is
// none, the lines of its pages in the bytes there.
func (f *file) within(n *ntuple, at int64, b []byte) (*Record, []Line) {
	if n.err != nil {
		return nil, nil
	}
	show := func(t envelope.Type, what string, l locator.Link) *Record {
		if int64(l.Locator.Offset) != at {
			return nil
		}
		plain, err := f.envelope(n, l)
		if err != nil {
			return &Record{Title: what, Offset: at, Stored: int64(len(b)), Lines: []Line{}, Error: err.Error()}
		}
		return describeEnvelope(fmt.Sprintf("%s of RNTuple %q", what, n.path), n, t, l, plain)
	}
	if r := show(envelope.TypeHeader, "header", n.anchor.Header()); r != nil {
		return r, nil
	}
	if r := show(envelope.TypeFooter, "footer", n.anchor.Footer()); r != nil {
		return r, nil
	}
	m, err := f.metadata(n)
	if err != nil {
		return nil, nil
	}
	for i, g := range m.Footer.ClusterGroups {
		if r := show(envelope.TypePageList, fmt.Sprintf("page list of cluster group %d", i), g.PageList); r != nil {
			return r, nil
		}
	}
	s, src, err := f.source(n)
	if err != nil {
		return nil, nil
	}
	clusters, _ := src.Clusters(f.ctx)
	var lines []Line
	end := at + int64(len(b))
	for _, c := range clusters {
		for id, column := range c.Columns() {
			for i, p := range column.Pages {
				lo, hi := int64(p.Locator.Offset), int64(p.Locator.Offset+p.Locator.Size)
				if lo < at || hi < lo || hi > end || p.Locator.InFile() != nil {
					continue
				}
				path := fmt.Sprintf("%s.cluster %d.column %d.page %d", n.path, c.ID, id, i)
				field := ""
				if id < len(s.Columns) {
					field = s.Columns[id].Owner.Path() + ", " + s.Columns[id].Format().String()
				}
				page := b[lo-at : hi-at]
				lines = append(lines, Line{At: lo - at, Bytes: page, Path: path,
					Meaning: fmt.Sprintf("field %s, %d elements", field, p.NumElements)})
				if n := int64(p.ChecksumSize()); n > 0 && hi+n <= end {
					line := Line{At: hi - at, Bytes: b[hi-at:][:n], Path: path + ".checksum", Meaning: "right"}
					if p.HasCRC32 {
						line.Meaning = "CRC32 of the uncompressed page"
					} else if got := checksum.Sum(page); got != binary.LittleEndian.Uint64(line.Bytes) {
						line.Meaning = fmt.Sprintf("wrong: that of the bytes is %#x", got)
					}
					lines = append(lines, line)
				}
			}
		}
	}
	return nil, lines
}

// pagesRecord returns the record of an RBlob of pages. Bytes that pages share are
// shown as those of the first one.
func pagesRecord(at int64, b []byte, known []Line) *Record {
	slices.SortStableFunc(known, func(a, b Line) int { return int(a.At - b.At) })
	r := &Record{Title: "payload of an RBlob", Offset: at, Stored: int64(len(b)), Lines: []Line{}}
	end := int64(0)
	bare := func(to int64) {
		if to > end {
			r.Lines = append(r.Lines, Line{At: end, Bytes: b[end:to], Meaning: unknown})
		}
	}
	for _, l := range known {
		if l.At < end {
			continue
		}
		bare(l.At)
		r.Lines = append(r.Lines, l)
		end = l.At + int64(len(l.Bytes))
	}
	bare(int64(len(b)))
	return r
}

// source returns the schema and the pages of an RNTuple.
func (f *file) source(n *ntuple) (*schema.Schema, *pagesource.Source, error) {
	m, err := f.metadata(n)
	if err != nil {
		return nil, nil, err
	}
	s, err := schema.Build(m.Header, m.Footer.Extension)
	if err != nil {
		return nil, nil, err
	}
	src, err := pagesource.NewSource(f.blobs(n), s, m.HeaderChecksum, m.Footer)
	if err != nil {
		return nil, nil, err
	}
	src.ParsePageList = m.PageList
	return s, src, nil
}
