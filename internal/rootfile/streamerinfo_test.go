package rootfile

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

// infoRecord returns the key and the object of the streamer infos of a file.
func infoRecord(t testing.TB, f *File) (Key, []byte) {
	t.Helper()
	b, err := f.read("streamer infos", f.Header.SeekInfo, int64(f.Header.NBytesInfo))
	if err != nil {
		t.Fatal(err)
	}
	var k Key
	c := reader(b, "streamer infos", f.Header.SeekInfo)
	if k.Wire(c); c.Err() != nil {
		t.Fatal(c.Err())
	}
	object, err := f.Payload(k)
	if err != nil {
		t.Fatal(err)
	}
	return k, object
}

// TestRealStreamerInfos writes the streamer infos in ROOT's files as they were
// read.
func TestRealStreamerInfos(t *testing.T) {
	n := 0
	for name, b := range realFiles(t) {
		f, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil || f.Header.SeekInfo == 0 {
			continue
		}
		k, object := infoRecord(t, f)
		l := streamerInfos{KeyLen: int(k.KeyLen)}
		if err := decode(object, &l); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(encode(t, &l), object) {
			t.Errorf("%s: written differently", name)
		}
		n++
	}
	if n == 0 {
		t.Skip("no ROOT files in testdata of the repository or beside it")
	}
}

// TestNewStreamerInfos compares the streamer infos of a new file with those that
// ROOT writes, with keys of both forms.
func TestNewStreamerInfos(t *testing.T) {
	for name, keyLen := range map[string]uint16{"special_attributes": 64, "special_zero": 72} {
		b, err := os.ReadFile("../../testdata/good/" + name + ".root")
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		k, want := infoRecord(t, f)
		if k.KeyLen != keyLen {
			t.Errorf("%s: key of %d bytes, want %d", name, k.KeyLen, keyLen)
		}
		l := newInfos().list
		l.KeyLen = int(keyLen)
		if got := encode(t, &l); !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%x\nwant\n%x", name, got, want)
		}
	}
}

// TestAddStreamerInfo adds the description to lists that have others: it comes
// last, and is not added twice. Lists that cannot be parsed, or would not be written as they are,
// stay as they are.
func TestAddStreamerInfo(t *testing.T) {
	const class = "ROOT::RNTuple"
	other := ntupleInfo()
	other.Info.Named.Name = "Other"
	odd := other
	odd.Info.Named.Title = "odd!"
	rules := infoEntry{Class: className{Name: "TList"}, Raw: []byte("rules")}
	for name, test := range map[string]struct {
		entries []infoEntry
		from    int64 // the big form changes the length of the key
		want    int   // entries, 0: the record stays where it is
	}{
		"other":         {[]infoEntry{other}, 0, 2},
		"other, grown":  {[]infoEntry{other}, 1, 2},
		"rules":         {[]infoEntry{other, rules}, 0, 3},
		"rules, grown":  {[]infoEntry{other, rules}, 1, 0},
		"there already": {[]infoEntry{other, ntupleInfo()}, 0, 0},
		"odd":           {[]infoEntry{odd}, 0, 0},
	} {
		m := new(target)
		w := create(t, m, fixed("f"))
		w.infos.list.KeyLen, w.infos.list.Entries = 64, test.entries
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		// An empty string with its length in 4 bytes, as none is written.
		m.b = bytes.ReplaceAll(m.b, []byte("\x04odd!"), []byte{255, 0, 0, 0, 0})
		before := m.open(t).Header
		o := fixed("")
		o.BigFrom = test.from
		w = appendTo(t, m, o)
		_, err := w.Object("", plain("x", ""))
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		f := m.open(t)
		if same := f.Header.SeekInfo == before.SeekInfo; same != (test.want == 0) {
			t.Errorf("%s: at %d, was %d", name, f.Header.SeekInfo, before.SeekInfo)
		}
		checkChain(t, f)
		if test.want == 0 {
			continue
		}
		k, object := infoRecord(t, f)
		l := streamerInfos{KeyLen: int(k.KeyLen)}
		if err := decode(object, &l); err != nil || len(l.Entries) != test.want {
			t.Errorf("%s: %d entries, %v", name, len(l.Entries), err)
			continue
		}
		if last := l.Entries[test.want-1]; last.Info.Named.Name != class || last.Class.Name != streamerInfoClass ||
			l.Entries[0].Info.Named.Name != "Other" {
			t.Errorf("%s: %+v", name, last)
		}
	}
}

func FuzzStreamerInfos(f *testing.F) {
	for _, b := range realFiles(f) {
		file, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil || file.Header.SeekInfo == 0 {
			continue
		}
		if k, object := infoRecord(f, file); len(object) < 5000 {
			f.Add(object, k.KeyLen)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, keyLen uint16) {
		l := streamerInfos{KeyLen: int(keyLen)}
		if decode(b, &l) == nil {
			encode(t, &l)
		}
	})
}
