package rootfile

import (
	"bytes"
	"slices"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
)

// ntupleInfo returns ROOT's description of the class of an RNTuple's anchor.
func ntupleInfo() infoEntry {
	const (
		class        = anchor.ClassName
		classVersion = anchor.ClassVersion
		checkSum     = 0x28E632EC
	)
	s := streamerInfo{
		Version:  10,
		Named:    named{1, object{1, 0, 1 << 16}, class, ""},
		CheckSum: checkSum, ClassVersion: classVersion,
		ArrayClass: className{Name: "TObjArray"}, ArrayVersion: 3, ArrayObject: object{Version: 1},
	}
	add := func(typ, size uint32, typeName string, members ...string) {
		for _, m := range members {
			s.Elements = append(s.Elements, streamerElement{
				Class: className{Name: basicTypeClass},
				Basic: basicElement{
					Version: 2, ElementVersion: 4, Named: named{1, object{Version: 1}, m, ""},
					Type: typ, Size: size, TypeName: typeName,
				},
			})
		}
	}
	add(12, 2, "unsigned short", "fVersionEpoch", "fVersionMajor", "fVersionMinor", "fVersionPatch")
	add(14, 8, "unsigned long", "fSeekHeader", "fNBytesHeader", "fLenHeader",
		"fSeekFooter", "fNBytesFooter", "fLenFooter", "fMaxKeySize")
	return infoEntry{Class: className{Name: streamerInfoClass}, Info: s}
}

// infos are the streamer infos of a file that is being written.
type infos struct {
	list  streamerInfos
	write bool // the file lacks them or has others
}

// newInfos returns those of a new file.
func newInfos() infos {
	return infos{write: true, list: streamerInfos{Version: 5, Object: object{Version: 1},
		Entries: []infoEntry{ntupleInfo()}}}
}

// readInfos reads the streamer infos of an existing file and adds what is missing.
// It leaves them as they are if they cannot be read and written again without a
// difference: readers of RNTuples do not need them.
func (w *Writer) readInfos(f *File) {
	if f.Header.SeekInfo == 0 {
		w.infos = newInfos()
		return
	}
	b, err := f.read("streamer infos", f.Header.SeekInfo, int64(f.Header.NBytesInfo))
	if err != nil {
		return
	}
	k, err := decoded[Key](b, "streamer infos", f.Header.SeekInfo)
	if err != nil {
		return
	}
	object, err := f.Payload(k)
	if err != nil {
		return
	}
	l := streamerInfos{KeyLen: int(k.KeyLen)}
	c := reader(object, "streamer infos", 0)
	l.Wire(c)
	if c.Err() != nil || c.Left() > 0 {
		return
	}
	if again, err := encoded(&l); err != nil || !bytes.Equal(again, object) {
		return
	}
	ours := ntupleInfo()
	for _, e := range l.Entries {
		if e.Info.Named.Name == ours.Info.Named.Name && e.Info.ClassVersion == ours.Info.ClassVersion {
			return
		}
	}
	l.Entries = append(l.Entries, ours)
	w.infos = infos{list: l, write: true}
}

// opaque reports whether the list has parts that are not parsed and may refer to
// class names.
func (l *streamerInfos) opaque() bool {
	return slices.ContainsFunc(l.Entries, func(e infoEntry) bool {
		return e.Raw != nil || slices.ContainsFunc(e.Info.Elements,
			func(m streamerElement) bool { return m.Class.unknown != 0 })
	})
}

// writeInfos appends the streamer infos if necessary.
func (w *Writer) writeInfos() error {
	if !w.infos.write {
		return nil
	}
	w.infos.write = false
	k := Key{SeekPdir: w.top().SeekDir, Class: "TList", Name: "StreamerInfo", Title: "Doubly linked list"}
	at := k
	w.place(&at, w.end)
	l := &w.infos.list
	if l.KeyLen != int(at.KeyLen) && l.opaque() {
		return nil // the key now has the big form
	}
	l.KeyLen = int(at.KeyLen)
	object, err := encoded(l)
	if err != nil {
		return err
	}
	stored, err := compress.Append(nil, object, w.opts.Compression)
	if err != nil {
		return err
	}
	w.freeOwn(w.header.SeekInfo, w.header.NBytesInfo)
	// At the end, because the length of the key has been decided.
	k, err = w.record(k, len(object), false, stored)
	w.header.SeekInfo, w.header.NBytesInfo = k.SeekKey, uint32(k.NBytes)
	return err
}
