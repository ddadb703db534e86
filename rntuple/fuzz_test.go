package rntuple_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/legacy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// maxSeed is how long the files are that fuzzers begin with: longer ones slow
// them and have nothing else.
const maxSeed = 20 << 10

// seeds returns the files to begin with: good, bad and pre-release ones, and what
// the campaign and the lies are made of.
func seeds(f *testing.F) (all [][]byte) {
	all = append(all, small(f))
	for _, pattern := range []string{"../testdata/good/*.root", "../testdata/bad/*.root",
		"../../shared/testdata/root/*.root", "../../shared/testdata/legacy/*.root"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			if len(b) <= maxSeed {
				all = append(all, b)
			}
		}
	}
	return all
}

// sound makes sure that an error is one of those that the package documents.
func sound(t *testing.T, err error) {
	t.Helper()
	for _, kind := range []error{rntuple.ErrCorrupt, rntuple.ErrChecksum, rntuple.ErrUnsupported,
		rntuple.ErrNotFound, rntuple.ErrRange} {
		if errors.Is(err, kind) {
			return
		}
	}
	if !strings.Contains(err.Error(), "several RNTuples") {
		t.Errorf("error of an unknown kind: %v", err)
	}
}

// reseal returns file with edited envelopes at its end, for which all checksums
// are right again, so that damage gets past them. Only the first RNTuple of the
// file is edited.
func reseal(t testing.TB, file []byte, edit func(kind envelope.Type, b []byte)) []byte {
	container, err := rootfile.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Skip(err)
	}
	var key rootfile.Key
	err = container.Walk(func(_ string, k rootfile.Key) error {
		if k.Class == anchor.ClassName {
			key = k
			return io.EOF
		}
		return nil
	})
	if err != io.EOF {
		t.Skip("no RNTuple")
	}
	object, err := container.Payload(key)
	if err != nil {
		t.Skip(err)
	}
	a, err := anchor.Parse(object)
	if err != nil {
		t.Skip(err)
	}
	b := newBuilder(t)
	b.name, b.file, b.maxKey = key.Name, bytes.Clone(file), 0

	load := func(l locator.Link) []byte {
		stored := make([]byte, l.Locator.Size)
		if err := anchor.ReadBlob(bytes.NewReader(file), stored, int64(l.Locator.Offset), a.MaxKeySize); err != nil {
			t.Skip(err)
		}
		plain := make([]byte, l.Length)
		if err := compress.Decompress(plain, stored); err != nil {
			t.Skip(err)
		}
		return plain
	}
	sum := uint64(0)
	seal := func(kind envelope.Type, p []byte) locator.Link {
		edit(kind, p[8:len(p)-8])
		if kind != envelope.TypeHeader { // it comes after the feature flags, which only footers have
			at := 8
			if kind == envelope.TypeFooter {
				for ; at < len(p)-24 && int64(binary.LittleEndian.Uint64(p[at:])) < 0; at += 8 {
				}
				at += 8
			}
			binary.LittleEndian.PutUint64(p[at:], sum)
		}
		binary.LittleEndian.PutUint64(p[len(p)-8:], checksum.Sum(p[:len(p)-8]))
		return locator.Link{Length: uint64(len(p)), Locator: locator.At(b.blob(p), uint64(len(p)))}
	}
	header := load(a.Header())
	h := seal(envelope.TypeHeader, header)
	sum = envelope.Checksum(header)
	footer, err := envelope.ParseFooter(load(a.Footer()))
	if err != nil {
		t.Skip(err)
	}
	for i := range footer.ClusterGroups {
		g := &footer.ClusterGroups[i]
		g.PageList = seal(envelope.TypePageList, load(g.PageList))
	}
	p, err := footer.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	f := seal(envelope.TypeFooter, p)
	a.SeekHeader, a.NBytesHeader, a.LenHeader = h.Locator.Offset, h.Length, h.Length
	a.SeekFooter, a.NBytesFooter, a.LenFooter = f.Locator.Offset, f.Length, f.Length
	object, err = a.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.container(object)
}

// FuzzOpen looks at all metadata of whatever the fuzzer comes up with.
func FuzzOpen(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	for _, lie := range slices.Concat(lies, bombs(), hostile) {
		b := newBuilder(f)
		b.zip = 505
		if file := b.bytes(lie.build(b)); len(file) <= maxSeed {
			f.Add(file)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		defer watch("input")()
		infos, err := rntuple.List(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			sound(t, err)
		}
		for _, info := range infos[:min(len(infos), 10)] {
			r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), info.Path, bounds)
			if err == nil {
				err = metadata(r)
			}
			if err != nil {
				sound(t, err)
			}
		}
	})
}

// bounds are limits that let fuzzers try much in little time.
var bounds = &rntuple.ReadOptions{Limits: rntuple.Limits{EntryBytes: 1 << 20, PageBytes: 1 << 20,
	EnvelopeBytes: 1 << 20}}

// metadata looks at all metadata of an RNTuple.
func metadata(r *rntuple.Reader) error {
	if err := r.Schema().Print(io.Discard); err != nil {
		return err
	}
	if _, err := r.Inspect(nil); err != nil {
		return err
	}
	for _, s := range r.AttributeSets() {
		if _, err := r.OpenAttributes(s.Name); err != nil {
			return err
		}
	}
	return nil
}

// FuzzSchema changes bytes of the envelopes of good files, and seals them again.
// The fuzzer chooses the file, and where to put which bytes: six of its own to a
// change.
func FuzzSchema(f *testing.F) {
	files := seeds(f)
	addChanges(f, len(files))
	f.Fuzz(func(t *testing.T, which uint8, changes []byte) {
		defer watch("input")()
		file := reseal(t, files[int(which)%len(files)], change(changes))
		if _, err := readAll(file); err != nil {
			sound(t, err)
		}
	})
}

func addChanges(f *testing.F, files int) {
	for i := range files {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte{1, 0, 8, 0xff, 0xff, 0xff})
		f.Add(uint8(i), []byte{2, 0, 8, 0xff, 0xff, 0x7f, 3, 0, 100, 1, 2, 3})
	}
}

// change returns the function that makes the changes to envelopes.
func change(changes []byte) func(envelope.Type, []byte) {
	return func(kind envelope.Type, b []byte) {
		for c := changes; len(c) >= 6; c = c[6:] {
			if at := int(binary.BigEndian.Uint16(c[1:])); envelope.Type(c[0]%4) == kind && len(b) > 0 {
				copy(b[at%len(b):], c[3:6])
			}
		}
	}
}

// FuzzReadEverything changes bytes of good files anywhere, and reads all that
// they hold, in every way, without verifying pages.
func FuzzReadEverything(f *testing.F) {
	files := seeds(f)
	addChanges(f, len(files))
	for i := range files {
		f.Add(uint8(i), []byte{0, 0x03, 0xf0, 1, 2, 3, 0, 0x04, 0, 0xff, 0xff, 0xff})
	}
	f.Fuzz(func(t *testing.T, which uint8, changes []byte) {
		defer watch("input")()
		file := bytes.Clone(files[int(which)%len(files)])
		enveloped := false
		for c := changes; len(c) >= 6; c = c[6:] {
			if c[0]%4 == 0 {
				copy(file[int(binary.BigEndian.Uint16(c[1:]))%len(file):], c[3:6])
			}
			enveloped = enveloped || c[0]%4 != 0
		}
		if enveloped {
			file = reseal(t, file, change(changes))
		}
		r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "",
			&rntuple.ReadOptions{Limits: bounds.Limits, SkipChecksums: true})
		if err == nil {
			err = everything(r)
		}
		if err != nil {
			sound(t, err)
		}
	})
}

// everything reads at most a thousand entries, in every way.
func everything(r *rntuple.Reader) error {
	if err := metadata(r); err != nil {
		return err
	}
	if _, err := textOf(r); err != nil {
		return err
	}
	for _, err := range rntuple.BatchesIn(r, rntuple.EntryRange{End: min(1000, r.NumEntries())},
		&rntuple.BatchOptions{Size: 300}) {
		if err != nil {
			return err
		}
	}
	for _, f := range r.Schema().Fields[:min(10, len(r.Schema().Fields))] {
		if err := byColumns(r, f, f.Name); err != nil {
			return err
		}
	}
	for _, s := range r.AttributeSets() {
		a, err := r.OpenAttributes(s.Name)
		if err != nil {
			return err
		}
		if _, err := textOf(a.Reader()); err != nil {
			return err
		}
	}
	return nil
}

// byColumns reads collections in columnar form, and every other field alone, from
// the end to the start.
func byColumns(r *rntuple.Reader, f *schema.Field, path string) error {
	n := min(100, r.NumEntries())
	if f.Shape == schema.Collection {
		v, err := rntuple.JaggedOf[any](r, path)
		if err != nil {
			return err
		}
		_, _, err = v.Read(make([]int64, n+1), nil, 0)
		return err
	}
	v, err := rntuple.ViewOf[any](r, path)
	if err != nil {
		return err
	}
	for i := n - 1; i >= 0; i-- {
		if _, err := v.At(i); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads a file as text, of all entries or at most a thousand.
func readAll(file []byte) (string, error) {
	r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), "", bounds)
	if err != nil {
		return "", err
	}
	return textOf(r)
}

func textOf(r *rntuple.Reader) (string, error) {
	v, err := rntuple.RecordsOf(r)
	if err != nil {
		return "", err
	}
	var text []byte
	for i, record := range v.All() {
		if text = append(value.AppendJSON(text, record), '\n'); i == 1000 || len(text) > 1<<20 {
			break
		}
	}
	return string(text), v.Err()
}

// legacySeeds adds the envelopes of public pre-release files, without their
// checksums, to those that FuzzLegacy begins with.
func legacySeeds(f *testing.F) {
	names, _ := filepath.Glob("../../shared/testdata/legacy/*.root")
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		file, err := rootfile.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil || len(b) > maxSeed {
			continue
		}
		err = file.Walk(func(_ string, k rootfile.Key) error {
			if k.Class != anchor.ExperimentalClassName {
				return nil
			}
			object, err := file.Payload(k)
			if err != nil {
				return err
			}
			a, err := legacy.ParseAnchor(object)
			if err != nil {
				return err
			}
			if a.ClassVersion > 3 { // its envelopes are those of format 1
				return nil
			}
			blobs := pagesource.Blobs{R: bytes.NewReader(b), Size: int64(len(b))}
			load := func(l locator.Link) []byte {
				var p []byte
				if p, err = blobs.Envelope(context.Background(), "seed", l); err != nil {
					f.Fatal(err)
				}
				return p
			}
			header := load(a.Header())
			footer := load(a.Footer())
			m, err := legacy.Parse(a, header, footer)
			if err != nil {
				return err
			}
			if binary.LittleEndian.Uint32(header) == 0 {
				f.Add(uint8(0), header[:len(header)-4], footer[:len(footer)-4], []byte{})
			} else {
				list := load(m.Footer.ClusterGroups[0].PageList)
				f.Add(uint8(a.ClassVersion), header[4:len(header)-4], footer[4:len(footer)-4], list[4:len(list)-4])
			}
			return nil
		})
		if err != nil {
			f.Fatal(err)
		}
	}
}

// TestBad reads the files of testdata/bad, and compares errors with those that the
// README there names.
func TestBad(t *testing.T) {
	text, err := os.ReadFile("../testdata/bad/README.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		listed++
		name, says := strings.Trim(cells[1], " `"), strings.Trim(cells[3], " `")
		file, err := os.ReadFile("../testdata/bad/" + name)
		if err != nil {
			t.Error(err)
			continue
		}
		t.Run(name, func(t *testing.T) {
			expectFrugal(t, file, says, uint64(12<<20+40*len(file)))
		})
	}
	if names, _ := filepath.Glob("../testdata/bad/*.root"); len(names) != listed || listed == 0 {
		t.Errorf("%d files, %d are listed", len(names), listed)
	}
}
