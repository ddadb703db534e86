package rootfile

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/frame"
)

var (
	smallKey = Key{NBytes: 100, Version: 4, ObjLen: 78, Datime: 0x76e69a9e, KeyLen: 48, Cycle: 2,
		SeekKey: 0xfffffff0, SeekPdir: 100, Class: "ROOT::RNTuple", Name: "ntuple", Title: "a title"}
	bigKey = Key{NBytes: -7, Version: 1004, ObjLen: 1 << 31, KeyLen: 42, Cycle: -3,
		SeekKey: 5 << 40, SeekPdir: 1<<48 - 1, ProcessID: 0x8001, Class: "RBlob"}
	smallDir = Directory{Version: 5, Created: 1, Modified: 2, NBytesKeys: 3, NBytesName: 4,
		SeekDir: 5, SeekParent: 6, SeekKeys: 0xffffffff, UUIDVersion: 1, UUID: [16]byte{1, 15: 16}}
	ntupleList = newInfos().list
	bigDir     = Directory{Version: 1005, SeekDir: 5 << 40, SeekParent: 6 << 40, SeekKeys: 7 << 40, UUIDVersion: 0xffff}
)

// records has each record in each form, with its size if the format defines it.
var records = map[string]struct {
	wirer
	size int
}{
	"small header": {&Header{Version: 64000, Begin: 100, End: 0xffffffff, SeekFree: 1, NBytesFree: 2, NFree: 3,
		NBytesName: 4, Units: 4, Compression: 505, SeekInfo: 5, NBytesInfo: 6, UUIDVersion: 7, UUID: [16]byte{8, 15: 9}}, 63},
	"big header": {&Header{Version: 64000, Big: true, Begin: 100, End: 1 << 40, SeekFree: 1 << 40,
		Units: 8, SeekInfo: 1 << 40, UUID: [16]byte{15: 9}}, 75},
	"small key": {&smallKey, 26 + 14 + 7 + 8},
	"big key":   {&bigKey, 42},
	"long names": {&Key{Version: 4, Class: strings.Repeat("c", 254), Name: strings.Repeat("n", 255),
		Title: strings.Repeat("t", 3000)}, 26 + 255 + 260 + 3005},
	"small directory":  {&smallDir, 60},
	"big directory":    {&bigDir, 60},
	"oldest directory": {&Directory{Version: 1, NBytesKeys: 1, SeekDir: 2, SeekParent: 3, SeekKeys: 4}, 30},
	"first directory with a UUID": {&Directory{Version: 2, SeekDir: 2, SeekParent: 3, SeekKeys: 4, UUIDVersion: 1,
		UUID: [16]byte{1}}, 48},
	"old directory": {&Directory{Version: 4, NBytesKeys: 1, SeekDir: 2, SeekParent: 3, SeekKeys: 4, UUID: [16]byte{1}},
		48},
	"root":           {&Root{Key: smallKey, Name: "file.root", Title: "t", Directory: smallDir}, 55 + 10 + 2 + 60},
	"big root":       {&Root{Key: bigKey, Name: "file.root", Directory: bigDir}, 42 + 10 + 1 + 60},
	"no keys":        {&KeyList{Key: smallKey, Keys: []Key{}}, 55 + 4},
	"small segment":  {&Segment{Version: 1, First: 2, Last: 0xffffffff}, 10},
	"big segment":    {&Segment{Version: 1001, First: 2, Last: 1 << 40}, 18},
	"streamer infos": {&ntupleList, 1254},
	"empty keys": {&KeyList{Key: smallKey, Keys: []Key{{Version: 4}, {Version: 4}, {Version: 4}}},
		55 + 4 + 3*(26+3)},
	"key list": {&KeyList{Key: bigKey, Keys: []Key{smallKey, bigKey, smallKey}}, 42 + 4 + 55 + 42 + 55},
}

func TestRecords(t *testing.T) {
	for name, test := range records {
		t.Run(name, func(t *testing.T) {
			b := encode(t, test)
			if len(b) != test.size {
				t.Errorf("%d bytes, expected %d", len(b), test.size)
			}
			got := reflect.New(reflect.TypeOf(test.wirer).Elem()).Interface().(wirer)
			if err := decode(b, got); err != nil || !reflect.DeepEqual(got, test.wirer) {
				t.Errorf("got %+v, %v, want %+v", got, err, test.wirer)
			}
			for n := range b {
				err := decode(b[:n:n], got)
				var fault *frame.FormatError
				if !errors.As(err, &fault) || !errors.Is(err, frame.ErrCorrupt) || fault.Offset > int64(n) {
					t.Errorf("%d of %d bytes: %v", n, len(b), err)
				}
			}
			if k, ok := test.wirer.(*Key); ok && k.Size() != len(b) {
				t.Errorf("Size is %d, the key has %d bytes", k.Size(), len(b))
			}
		})
	}
}

// TestKeyListExtra makes sure that bytes after the keys of a list are kept: TFile
// leaves some there.
func TestKeyListExtra(t *testing.T) {
	want := KeyList{Key: smallKey, Keys: []Key{bigKey}, Extra: []byte("12345678")}
	var got KeyList
	if err := decode(encode(t, &want), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestKeyListCount makes sure that more keys than the bytes can hold are refused
// before memory is allocated for them.
func TestKeyListCount(t *testing.T) {
	b := encode(t, &KeyList{Keys: make([]Key, 2)})
	for _, n := range []byte{3, 0xff} {
		b[minKey+3] = n
		if err := decode(b, new(KeyList)); !errors.Is(err, frame.ErrCorrupt) ||
			!strings.Contains(err.Error(), "number of keys") {
			t.Errorf("%d keys: %v", n, err)
		}
	}
}

// TestSmallFormOverflow makes sure that positions that do not fit the small form
// are errors.
func TestSmallFormOverflow(t *testing.T) {
	for name, r := range map[string]wirer{
		"header":      &Header{End: 1 << 32},
		"key":         &Key{Version: 4, SeekKey: 1 << 32},
		"negative":    &Key{Version: 4, SeekKey: -1},
		"process id":  &Key{Version: 4, ProcessID: 1},
		"parent":      &Key{Version: 1004, SeekPdir: 1 << 48},
		"directory":   &Directory{Version: 5, SeekKeys: 1 << 32},
		"name":        &Key{Version: 4, Name: strings.Repeat("n", 1<<16)},
		"key in list": &KeyList{Keys: []Key{{SeekKey: -1}}},
	} {
		c := frame.NewWriter(nil, name).BigEndian()
		if r.Wire(c); c.Err() == nil {
			t.Errorf("%s: written", name)
		}
	}
}

func TestStringForms(t *testing.T) {
	for _, n := range []int{0, 1, 254, 255, 256, 70000} {
		want := strings.Repeat("x", n)
		c := frame.NewWriter(nil, "").BigEndian()
		String(c, "s", &want)
		b, err := c.Bytes()
		if err != nil || len(b) != stringSize(want) {
			t.Errorf("%d: %d bytes written, %v", n, len(b), err)
		}
		var got string
		c = frame.NewReader(b, "", 0).BigEndian()
		if String(c, "s", &got); got != want || c.Err() != nil || c.Left() > 0 {
			t.Errorf("%d: %d read, %v", n, len(got), c.Err())
		}
	}
	if b := encode(t, &Key{Name: strings.Repeat("x", 300)}); !bytes.Contains(b, []byte{255, 0, 0, 1, 44, 'x'}) {
		t.Errorf("the long form is %x", b[:40])
	}
}

func TestDatime(t *testing.T) {
	// 0x76e69a9e is in test_int_float_rntuple_v1-0-0-0.root.
	at := time.Date(2024, 11, 19, 9, 42, 30, 0, time.UTC)
	if got := Datime(0x76e69a9e).Time(); !got.Equal(at) {
		t.Errorf("got %v, want %v", got, at)
	}
	if got := MakeDatime(at); got != 0x76e69a9e {
		t.Errorf("got %#x", got)
	}
	if !Datime(0).Time().IsZero() {
		t.Error("zero is a point in time")
	}
	for _, test := range []struct {
		year int
		want Datime
	}{{1990, 1<<22 | 1<<17}, {2059, 63<<26 | 12<<22 | 31<<17 | 23<<12 | 59<<6 | 59}} {
		if got := MakeDatime(time.Date(test.year, 6, 1, 0, 0, 0, 0, time.UTC)); got != test.want {
			t.Errorf("%d: %#x, want %#x", test.year, got, test.want)
		}
	}
}
