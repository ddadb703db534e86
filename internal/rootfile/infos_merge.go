package rootfile

import (
	"bytes"
	"encoding/binary"

	"github.com/go-rntuple/go-rntuple/frame"
)

// A TList that is written as an object of its own begins with its byte count, the
// tag of a new class, and the name of that class.
const listHead = "\xff\xff\xff\xffTList\x00"

// MergeInfos returns the streamer infos of the list a, followed by those of b that
// a lacks. Lists have the form in which RNTuples store them. The error wraps
// frame.ErrUnsupported if a list has parts that cannot be moved.
func MergeInfos(a, b []byte) ([]byte, error) {
	all, err := parseInfos(a)
	if err != nil {
		return nil, err
	}
	more, err := parseInfos(b)
	if err != nil {
		return nil, err
	}
	type class struct {
		name    string
		version uint32
	}
	known := map[class]bool{}
	for _, e := range all.Entries {
		known[class{e.Info.Named.Name, uint32(e.Info.ClassVersion)}] = true
	}
	for _, e := range more.Entries {
		if !known[class{e.Info.Named.Name, uint32(e.Info.ClassVersion)}] {
			all.Entries = append(all.Entries, e)
		}
	}
	return appendInfos(all)
}

// parseInfos parses a list, and makes sure that it can be written without a
// difference.
func parseInfos(b []byte) (*streamerInfos, error) {
	head := 4 + len(listHead)
	if len(b) < head || string(b[4:head]) != listHead {
		return nil, frame.Unsupported("streamer infos that are no TList")
	}
	l := &streamerInfos{KeyLen: head}
	c := reader(b[head:], "streamer infos", 0)
	l.Wire(c)
	if c.Err() != nil {
		return nil, c.Err()
	}
	if again, err := appendInfos(l); err != nil || !bytes.Equal(again, b) || l.opaque() {
		return nil, frame.Unsupported("streamer infos of an unknown form")
	}
	return l, nil
}

// appendInfos is the opposite of parseInfos.
func appendInfos(l *streamerInfos) ([]byte, error) {
	b, err := encoded(l)
	if err != nil {
		return nil, err
	}
	const counted = 0x40000000
	out := binary.BigEndian.AppendUint32(nil, uint32(len(listHead)+len(b))|counted)
	return append(append(out, listHead...), b...), nil
}
