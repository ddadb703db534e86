package container_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/container"
	"github.com/go-rntuple/go-rntuple/frame"
)

const dimuon = "../testdata/dimuon.root"

func open(t *testing.T, name string) (*container.File, error) {
	t.Helper()
	f, err := container.Open(context.Background(), name, nil)
	if err == nil {
		t.Cleanup(func() { f.Close() })
	}
	return f, err
}

// TestFind finds an object, whose record begins with the key that the directory lists.
func TestFind(t *testing.T) {
	f, err := open(t, dimuon)
	if err != nil {
		t.Fatal(err)
	}
	k, err := f.Find("Events;1", anchor.ClassName)
	if err != nil {
		t.Fatal(err)
	}
	object, err := f.Object(k)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := anchor.Parse(object); err != nil {
		t.Error(err)
	}
	record := make([]byte, k.NBytes)
	if _, err := f.ReadAt(record, k.SeekKey); err != nil {
		t.Fatal(err)
	}
	c := frame.NewReader(record, "key", k.SeekKey).BigEndian()
	if own := container.ReadKey(c); own.Name != "Events" || own.SeekKey != k.SeekKey ||
		c.Err() != nil || c.Pos() != k.KeyLen {
		t.Errorf("the record begins with %+v of %d bytes, listed is %+v; %v", own, c.Pos(), k, c.Err())
	}
	if !bytes.Equal(record[k.KeyLen:], object) {
		t.Error("the anchor, which is not compressed, is not what its record has")
	}
	for _, missing := range []string{"Events;2", "events", "Events/x"} {
		if _, err := f.Find(missing); !errors.Is(err, container.ErrNotFound) {
			t.Errorf("%s: %v", missing, err)
		}
	}
	if _, err := f.Find("Events", "TTree"); !errors.Is(err, container.ErrNotFound) {
		t.Errorf("of another class: %v", err)
	}
}

// TestStreamerInfo reads the record that the header refers to, in bytes 37 to 41 of a small file.
func TestStreamerInfo(t *testing.T) {
	whole, err := os.ReadFile(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(t, dimuon)
	if err != nil {
		t.Fatal(err)
	}
	if k, object, err := f.StreamerInfo(); err != nil || k.Class != "TList" || int64(len(object)) != k.ObjLen ||
		f.Size() != int64(len(whole)) {
		t.Errorf("%+v, %d bytes, %v", k, len(object), err)
	}
	for _, c := range []struct {
		at   []byte
		fail bool
	}{
		{[]byte{0, 0, 0, 0}, false},            // none
		{[]byte{0x7f, 0xff, 0xff, 0xff}, true}, // beyond the end
	} {
		name := filepath.Join(t.TempDir(), "a.root")
		changed := bytes.Clone(whole)
		copy(changed[37:], c.at)
		if err := os.WriteFile(name, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := open(t, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, object, err := f.StreamerInfo(); errors.Is(err, frame.ErrCorrupt) != c.fail || object != nil {
			t.Errorf("% x: %d bytes, %v", c.at, len(object), err)
		}
	}
}

func TestOpenOther(t *testing.T) {
	if _, err := open(t, "container.go"); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("no ROOT file: %v", err)
	}
}
