package ntuple_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesink"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
	inside "github.com/go-rntuple/go-rntuple/remote/objects"
	"github.com/go-rntuple/go-rntuple/schema"
)

// TestSets writes attribute sets, resumes one, adds one, unlinks one, and opens them.
func TestSets(t *testing.T) {
	o := writeOptions(t)
	s, f := newStore(t, o)
	w := create(t, f, "n", header(t, "n"))
	put(t, w, 2)
	for _, name := range []string{"one", "two"} {
		set, err := w.CreateSet(setHeader(t, name), o)
		if err != nil {
			t.Fatal(err)
		}
		fillSet(t, set)
	}
	if !w.HasSet("one") || w.HasSet("three") {
		t.Error("HasSet is wrong")
	}
	closeAll(t, w, f)
	before := s.open(t, "n")

	f, err := ntuple.Update(s, s.Size(), o)
	if err != nil {
		t.Fatal(err)
	}
	if w, err = f.Resume(s.open(t, "n"), o); err != nil {
		t.Fatal(err)
	}
	if !w.HasSet("one") || !w.HasSet("two") || w.HasSet("three") || !w.Resumed {
		t.Error("HasSet is wrong of a resumed RNTuple")
	}
	for _, name := range []string{"two", "three"} {
		set, err := w.CreateSet(setHeader(t, name), o)
		if err != nil {
			t.Fatal(err)
		}
		if set.Resumed != (name == "two") {
			t.Errorf("set %q: resumed %v", name, set.Resumed)
		}
		fillSet(t, set)
	}
	if !w.HasSet("two") || !w.HasSet("three") {
		t.Error("HasSet is wrong of new sets")
	}
	closeAll(t, w, f)
	checkSets := func(r *ntuple.Reader, want map[string]int64) {
		t.Helper()
		for _, name := range []string{"one", "two", "three"} {
			set, err := r.OpenSet(name)
			if n, ok := want[name]; !ok {
				if !errors.Is(err, rootfile.ErrNotFound) {
					t.Errorf("set %q: %v", name, err)
				}
			} else if err != nil || set.Source.Entries != n || set.Path != name || set.Close() != nil {
				t.Errorf("set %q: %v, %v, want %d entries", name, set, err, n)
			}
		}
	}
	checkSets(before, map[string]int64{"one": 1, "two": 2}) // the newest, as a commit may have overwritten the others
	checkSets(s.open(t, "n"), map[string]int64{"one": 1, "two": 2, "three": 1})

	if f, err = ntuple.Update(s, s.Size(), o); err != nil {
		t.Fatal(err)
	}
	if err := f.Relink(s.open(t, "n"), o, func(w *ntuple.Writer) error { w.Unlink("one"); return nil }); err != nil {
		t.Fatal(err)
	}
	closeAll(t, f)
	r := s.open(t, "n")
	checkSets(r, map[string]int64{"two": 2, "three": 1})
	checkNumbers(t, "after Relink", r, 2)

	// Links that contradict the sets, or that nobody can follow.
	for _, test := range []struct {
		name string
		edit func(sets []envelope.AttributeSet) []envelope.AttributeSet
		kind error
		want string
	}{
		{"none", func([]envelope.AttributeSet) []envelope.AttributeSet { return nil }, rootfile.ErrNotFound,
			"the RNTuple has []"},
		{"twice", func(s []envelope.AttributeSet) []envelope.AttributeSet { return append(s, s[0]) },
			frame.ErrCorrupt, "two of this name"},
		{"major version", func(s []envelope.AttributeSet) []envelope.AttributeSet { s[0].SchemaMajor = 2; return s },
			frame.ErrUnsupported,
			"schema version 2.0"},
		{"minor version", func(s []envelope.AttributeSet) []envelope.AttributeSet { s[0].SchemaMinor = 7; return s }, nil,
			""},
		{"large anchor", func(s []envelope.AttributeSet) []envelope.AttributeSet { s[0].AnchorLength = 1<<16 + 1; return s },
			frame.ErrCorrupt, "anchor of 65537 bytes"},
		{"anchor elsewhere", func(s []envelope.AttributeSet) []envelope.AttributeSet {
			s[0].Anchor.Offset = 1 << 40
			return s
		}, frame.ErrCorrupt, "anchor"},
		{"no anchor", func(s []envelope.AttributeSet) []envelope.AttributeSet { s[0].Anchor.Offset = 200; return s }, nil,
			"fails"},
		{"name", func(s []envelope.AttributeSet) []envelope.AttributeSet {
			s[0].Anchor, s[0].AnchorLength = s[1].Anchor, s[1].AnchorLength
			return s
		}, frame.ErrCorrupt, `"three", the link says "two"`},
	} {
		r := s.open(t, "n")
		r.Footer.AttributeSets = test.edit(r.Footer.AttributeSets)
		_, err := r.OpenSet("two")
		switch {
		case test.want == "" && err != nil, test.want != "" && err == nil,
			test.kind != nil && (!errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
	r.Source.MaxKeySize = 40 // of pages and envelopes; anchors are never split
	if _, err := r.OpenSet("two"); err != nil {
		t.Errorf("with small keys: %v", err)
	}
	r.Source.R = struct{ inside.Source }{}
	if _, err := r.OpenSet("two"); !errors.Is(err, frame.ErrUnsupported) {
		t.Errorf("in objects: %v", err)
	}
}

// TestSetFields opens attribute sets with other fields than they should have. Later minor versions
// may have more.
func TestSetFields(t *testing.T) {
	for _, test := range []struct {
		fields []string
		minor  uint16
		want   string
	}{
		{ntuple.SetFields, 0, ""},
		{ntuple.SetFields[:2], 0, "2 top-level fields, expected 3"},
		{ntuple.SetFields[:2], 1, "2 top-level fields, expected 3"},
		{append(slices.Clone(ntuple.SetFields), "more"), 0, "4 top-level fields, expected 3"},
		{append(slices.Clone(ntuple.SetFields), "more"), 1, ""},
		{[]string{"_rangeStart", "_rangeLength", "_userData"}, 0,
			`top-level field "_rangeLength", expected "_rangeLen"`},
		{[]string{"_rangeStart", "_rangeLen", "more", "_userData"}, 1,
			`top-level field "more", expected "_userData"`},
	} {
		o := writeOptions(t)
		s, f := newStore(t, o)
		w := create(t, f, "n", header(t, "n"))
		var fields []*schema.FieldDocument
		for _, name := range test.fields {
			fields = append(fields, &schema.FieldDocument{Name: name, Type: "float"})
		}
		if _, err := w.CreateSet(headerOf(t, "set", fields...), o); err != nil {
			t.Fatal(err)
		}
		closeAll(t, w, f)
		r := s.open(t, "n")
		r.Footer.AttributeSets[0].SchemaMinor = test.minor
		if _, err := r.OpenSet("set"); test.want == "" && err != nil ||
			test.want != "" && (!errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v, version 1.%d: %v, want %s", test.fields, test.minor, err, test.want)
		}
	}
}

// TestResumeElements resumes an RNTuple with columns of many kinds: elements are counted on where
// the last cluster ended.
func TestResumeElements(t *testing.T) {
	o := writeOptions(t)
	s, f := newStore(t, o)
	w := create(t, f, "n", headerOf(t, "n", &schema.FieldDocument{Name: "v", Type: "std::vector<std::int32_t>"},
		&schema.FieldDocument{Name: "a", Type: "std::array<std::int32_t,3>"}))
	write := func(w *ntuple.Writer, first, n int) {
		ends, err1 := pagesink.NewBuffer[uint64](w.Sink, w.Schema.Columns[0])
		items, err2 := pagesink.NewBuffer[int32](w.Sink, w.Schema.Columns[1])
		threes, err3 := pagesink.NewBuffer[int32](w.Sink, w.Schema.Columns[2])
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		end := uint64(0) // clusters count from 0
		for e := first; e < first+n; e++ {
			for range e % 4 {
				items.Add(int32(e))
				end++
			}
			ends.Add(end)
			threes.AddAll([]int32{1, 2, 3})
			if err := w.Sink.EndEntries(1); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(w, 0, 10)
	closeAll(t, w, f)
	items := int64(0)
	for range 2 {
		r := s.open(t, "n")
		f, err := ntuple.Update(s, s.Size(), o)
		if err != nil {
			t.Fatal(err)
		}
		if w, err = f.Resume(r, o); err != nil {
			t.Fatal(err)
		}
		write(w, int(r.Source.Entries), 5)
		closeAll(t, w, f)
	}
	r := s.open(t, "n")
	clusters, err := r.Source.Clusters(t.Context())
	if err != nil || len(clusters) != 3 {
		t.Fatalf("%d clusters, %v", len(clusters), err)
	}
	for _, c := range clusters {
		columns := c.Columns()
		want := []int64{c.First, items, 3 * c.First}
		for i, column := range columns {
			if column.ElementOffset != want[i] {
				t.Errorf("cluster %d: column %d begins with the element %d, want %d", c.ID, i,
					column.ElementOffset, want[i])
			}
		}
		for e := c.First; e < c.End; e++ {
			items += e % 4
		}
	}
	// Nothing is resumed that cannot be written.
	legacy := s.open(t, "n")
	legacy.Anchor.Epoch = 0
	if f, err = ntuple.Update(s, s.Size(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Resume(legacy, o); !errors.Is(err, frame.ErrUnsupported) ||
		!strings.HasPrefix(err.Error(), `RNTuple "n": `) {
		t.Error(err)
	}
	hidden := s.open(t, "n")
	hidden.Source.Schema.Hidden = []schema.Hidden{{Field: hidden.Source.Schema.Fields[0],
		Err: frame.Unsupported("new")}}
	if _, err := f.Resume(hidden, o); !errors.Is(err, frame.ErrUnsupported) ||
		!strings.Contains(err.Error(), `field "v" cannot be read`) {
		t.Error(err)
	}
	if err := f.Relink(hidden, o, nil); !errors.Is(err, frame.ErrUnsupported) {
		t.Error(err)
	}
	closeAll(t, f)
	broken := s.open(t, "n")
	broken.Source.R = &store{failRead: func(int, int64) error { return errBroken }}
	if f, err = ntuple.Update(s, s.Size(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Resume(broken, o); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

// TestRename gives an RNTuple another name and description: clusters stay where they are.
func TestRename(t *testing.T) {
	o := writeOptions(t)
	s := written(t, 6)
	old := s.open(t, "n")
	f, err := ntuple.Update(s, s.Size(), o)
	if err != nil {
		t.Fatal(err)
	}
	h := *old.Header
	h.Name, h.Description = "renamed", "described"
	failed := errors.New("failed")
	if err := f.Rename(old, &h, &envelope.Schema{}, o, func(*ntuple.Writer) error { return failed }); err != failed {
		t.Error(err)
	}
	if err := f.Rename(old, &h, &envelope.Schema{}, o, nil); err != nil {
		t.Fatal(err)
	}
	closeAll(t, f)
	r := s.open(t, "renamed")
	checkNumbers(t, "renamed", r, 6)
	if r.Header.Name != "renamed" || r.Header.Description != "described" {
		t.Errorf("the header has %q", r.Header.Name)
	}
	page := func(r *ntuple.Reader) locator.Locator {
		c, err := r.Source.Find(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return c.Columns()[0].Pages[0].Locator
	}
	if a, b := page(old), page(r); a != b {
		t.Errorf("the first page was at %v and is at %v", a, b)
	}
	if _, err := ntuple.NewReader(s, s.Size(), "n", readOptions(t)); !errors.Is(err, rootfile.ErrNotFound) {
		t.Error(err)
	}
	hidden := *old.Header
	hidden.Columns = slices.Clone(hidden.Columns)
	hidden.Columns[0].Type = 0x1fff
	if err := f.Rename(old, &hidden, &envelope.Schema{}, o, nil); err == nil {
		t.Error("a field of an unknown type was renamed")
	}
	for total, i := 1, -1; i < total; i++ { // each write fails
		s := written(t, 6)
		if f, err = ntuple.Update(s, s.Size(), o); err != nil {
			t.Fatal(err)
		}
		s.writes, s.failWrite = 0, func(k int) error {
			if k == i {
				return errBroken
			}
			return nil
		}
		err := f.Rename(s.open(t, "n"), &h, &envelope.Schema{}, o, nil)
		if i < 0 {
			total = s.writes
		}
		if (i >= 0) != errors.Is(err, errBroken) {
			t.Errorf("write %d of %d: error %v", i, total, err)
		}
		if i >= 0 {
			checkNumbers(t, "after a fault", s.open(t, "n"), 6)
		}
	}
	broken := s.open(t, "renamed")
	broken.Source.R = &store{failRead: func(int, int64) error { return errBroken }}
	if f, err = ntuple.Update(s, s.Size(), o); err != nil {
		t.Fatal(err)
	}
	if err := f.Rename(broken, &h, &envelope.Schema{}, o, nil); !errors.Is(err, errBroken) ||
		!strings.HasPrefix(err.Error(), "cluster group 0: ") {
		t.Error(err)
	}
}

// TestExtend adds a field to an RNTuple with entries.
func TestExtend(t *testing.T) {
	s, f := newStore(t, writeOptions(t))
	w := create(t, f, "n", header(t, "n"))
	put(t, w, 3)
	extended := 0
	var err error
	w.Extended = func() error { extended++; return err }
	add := func(typ string) error {
		ext, err := (&schema.Document{Fields: []*schema.FieldDocument{{Name: "y" + typ,
			Type: typ}}}).Extend(w.Schema, 3, true)
		if err != nil {
			t.Fatal(err)
		}
		return w.Extend(ext)
	}
	if err := errors.Join(add("double"), add("float")); err != nil || extended != 2 {
		t.Fatalf("extended %d times: %v", extended, err)
	}
	if err := w.Extend(&envelope.Schema{Columns: []envelope.Column{{Field: 99}}}); err == nil {
		t.Error("a column of no field was added")
	}
	if len(w.Schema.Fields) != 3 || len(w.Extension.Fields) != 2 || len(w.Extension.Columns) != 2 {
		t.Errorf("%d fields, %d of them added", len(w.Schema.Fields), len(w.Extension.Fields))
	}
	for _, c := range w.Schema.Columns[1:] {
		if _, err := pagesink.NewBuffer[float32](w.Sink, c); err != nil {
			t.Fatal(err)
		}
	}
	err = errBroken
	if got := add("bool"); got != errBroken || extended != 3 {
		t.Errorf("extended %d times: %v", extended, got)
	}
	closeAll(t, w, f)
	r := s.open(t, "n")
	checkNumbers(t, "extended", r, 3)
	var names []string
	for _, f := range r.Source.Schema.Fields {
		names = append(names, f.Name)
	}
	if want := []string{"x", "ydouble", "yfloat", "ybool"}; !slices.Equal(names, want) {
		t.Errorf("fields %q, want %q", names, want)
	}
}

// TestNeeds reads with the limits that an RNTuple needs, and not with less for metadata.
func TestNeeds(t *testing.T) {
	s, f := newStore(t, writeOptions(t))
	w := create(t, f, "n", header(t, "n"))
	put(t, w, 1000)
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	need := w.Needs()
	closeAll(t, w, f)
	r := s.open(t, "n")
	lists := uint64(0)
	for _, g := range r.Footer.ClusterGroups {
		lists += g.PageList.Length
	}
	if want := int64(max(r.Anchor.LenHeader, r.Anchor.LenFooter, lists)); need.EnvelopeBytes != want {
		t.Errorf("%d bytes of metadata are needed, want %d", need.EnvelopeBytes, want)
	}
	if need.PageBytes < 4*1000 || need.PageBytes > 16*1000 {
		t.Errorf("%d bytes of pages are needed", need.PageBytes)
	}
	for less := range int64(2) {
		o := readOptions(t)
		o.Limits.PageBytes, o.Limits.EnvelopeBytes = need.PageBytes, need.EnvelopeBytes-less
		r, err := ntuple.NewReader(s, s.Size(), "n", o)
		if err == nil {
			_, err = valuesOf(r)
		}
		var limit *frame.LimitError
		if less == 0 && err != nil || less == 1 && (!errors.As(err, &limit) || limit.Limit != "EnvelopeBytes") {
			t.Errorf("with %d bytes less: %v", less, err)
		}
	}
	// A set may need more than the RNTuple, of which pages are small.
	o := writeOptions(t, func(o *ntuple.WriteOptions) { o.Pages.MaxPage = 64 << 10 })
	_, f = newStore(t, o)
	w, err := f.Create("n", header(t, "n"), o)
	if err != nil {
		t.Fatal(err)
	}
	h := setHeader(t, "set")
	h.Description = strings.Repeat("long", 1000)
	set, err := w.CreateSet(h, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range set.Schema.Columns {
		b, err := pagesink.NewBuffer[int32](set.Sink, c)
		if err != nil {
			t.Fatal(err)
		}
		b.AddAll(numbers(9000))
	}
	if err := errors.Join(set.Sink.EndEntries(9000), w.Checkpoint()); err != nil {
		t.Fatal(err)
	}
	if need := w.Needs(); need.EnvelopeBytes < 4000 || need.EnvelopeBytes >= 6000 || need.PageBytes != 64<<10 {
		t.Errorf("with a set: %+v", need)
	}
	// So may the footer, which has what was added to the schema.
	ext, err := (&schema.Document{Fields: []*schema.FieldDocument{
		{Name: "y", Type: "float", Description: strings.Repeat("long", 1500)},
	}}).Extend(w.Schema, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Extend(ext), w.Checkpoint()); err != nil {
		t.Fatal(err)
	}
	if need := w.Needs(); need.EnvelopeBytes < 6000 {
		t.Errorf("with an extension: %+v", need)
	}
}

// TestAbort aborts writers and files: what was committed stays.
func TestAbort(t *testing.T) {
	o := writeOptions(t)
	s, f := newStore(t, o)
	w := create(t, f, "n", header(t, "n"))
	data := fill(t, w, 0)
	data.put(3)
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	size := f.Size()
	if size != w.FileSize() || size > s.Size() || size == 0 {
		t.Errorf("the file has %d bytes, %d by the writer, %d in the store", size, w.FileSize(), s.Size())
	}
	data.put(3)
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if err := w.Abort(); err != ntuple.ErrClosed {
		t.Errorf("aborting twice: %v", err)
	}
	if err := w.Checkpoint(); err != ntuple.ErrClosed {
		t.Errorf("a checkpoint after the end: %v", err)
	}
	if err := w.Err(); err != ntuple.ErrClosed {
		t.Errorf("the error of a writer that is closed: %v", err)
	}
	if err := f.Commit(); err == nil {
		t.Error("a file was committed after a writer was aborted")
	}
	if err := f.Abort(); err == nil {
		t.Log("the file says nothing") // the error of the writer is one of the file
	}
	checkNumbers(t, "aborted", s.open(t, "n"), 3)

	ctx, cancel := context.WithCancel(t.Context())
	o = writeOptions(t, func(o *ntuple.WriteOptions) { o.Context = ctx })
	s, f = newStore(t, o)
	w = create(t, f, "n", header(t, "n"))
	put(t, w, 3)
	closeAll(t, w)
	cancel()
	if err := f.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("a commit with a context that is done: %v", err)
	}
	if err := f.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("closing after a commit failed: %v", err)
	}
	if infos, _ := ntuple.List(s, s.Size()); len(infos) > 0 {
		t.Errorf("the file lists %v", infos)
	}
}

// TestAbortOnDisk aborts files on disk: new ones do not appear, and those that exist stay as they
// were.
func TestAbortOnDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.root")
	o := writeOptions(t, func(o *ntuple.WriteOptions) { o.NoSync, o.Pages.Compression = true, 0 })
	files := func() (names []string) {
		all, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			names = append(names, f.Name())
		}
		return names
	}
	f, err := ntuple.CreateFile(path, o)
	if err != nil {
		t.Fatal(err)
	}
	c := new(closer)
	f.CloseWith(c)
	w := create(t, f, "n", header(t, "n"))
	put(t, w, 100)
	closeAll(t, w)
	for range 2 {
		if err := f.Abort(); err != nil || c.n != 1 {
			t.Errorf("closed %d times: %v", c.n, err)
		}
	}
	if names := files(); len(names) > 0 {
		t.Errorf("aborted, but there are %q", names)
	}

	if f, err = ntuple.CreateFile(path, o); err != nil {
		t.Fatal(err)
	}
	w = create(t, f, "n", header(t, "n"))
	data := fill(t, w, 0)
	data.put(100)
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	data.put(100)
	if err := w.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	closeAll(t, w, f)
	read := func() []byte {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const many = 300000 // so that they are not only in memory
	for _, test := range []struct {
		checkpoint bool
		behind     int // bytes that follow the file
	}{{false, 0}, {true, 0}, {false, 4 << 20}} {
		if err := os.WriteFile(path, append(read(), make([]byte, test.behind)...), 0o666); err != nil {
			t.Fatal(err)
		}
		before := read()
		r, err := ntuple.Open(location.Parse(path), "", readOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		if f, err = ntuple.UpdateFile(path, o); err != nil {
			t.Fatal(err)
		}
		if w, err = f.Resume(r, o); err != nil {
			t.Fatal(err)
		}
		n := int(r.Source.Entries)
		data := fill(t, w, int32(n))
		if test.checkpoint {
			data.put(500)
			n += 500
			if err := w.Checkpoint(); err != nil {
				t.Fatal(err)
			}
		}
		committed := f.Size()
		data.put(many)
		if err := errors.Join(w.Sink.CommitCluster(), w.Sink.Wait()); err != nil {
			t.Fatal(err)
		}
		if grown := len(read()); test.behind == 0 && grown <= len(before)+2000 {
			t.Errorf("%+v: the file has %d bytes, it had %d", test, grown, len(before))
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
		f.Abort()
		r.Close()
		switch after := read(); {
		case test.checkpoint && int64(len(after)) > committed:
			t.Errorf("%+v: the file has %d bytes, %d were committed", test, len(after), committed)
		case !test.checkpoint && len(after) != len(before):
			t.Errorf("%+v: the file had %d bytes and has %d", test, len(before), len(after))
		case !test.checkpoint && test.behind == 0 && !bytes.Equal(after, before):
			t.Errorf("%+v: the file has changed", test)
		}
		if r, err = ntuple.Open(location.Parse(path), "", readOptions(t)); err != nil {
			t.Fatal(err)
		}
		checkNumbers(t, "aborted", r, n)
		r.Close()
	}
	if names := files(); len(names) != 1 {
		t.Errorf("there are %q", names)
	}
	if _, err := ntuple.UpdateFile(filepath.Join(dir, "none"), o); err == nil {
		t.Error("a file was updated that is not there")
	}
	for content, want := range map[string]string{"": "the file is empty", "no ROOT file": "not a ROOT file"} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ntuple.UpdateFile(path, o); err == nil || !strings.HasPrefix(err.Error(), path+": ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q was updated: error %v, want %s", content, err, want)
		}
	}
}

// TestMoved moves a file before its Writer is closed, and after that, before its last commit: there
// is none, and the file that has its name now is not touched.
func TestMoved(t *testing.T) {
	for _, late := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "f.root")
		o := writeOptions(t, func(o *ntuple.WriteOptions) { o.NoSync = true })
		f, err := ntuple.CreateFile(path, o)
		if err != nil {
			t.Fatal(err)
		}
		w := create(t, f, "n", header(t, "n"))
		data := fill(t, w, 0)
		data.put(3)
		if err := w.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		data.put(3)
		if late {
			closeAll(t, w)
		}
		if err := os.Rename(path, path+".moved"); err != nil {
			f.Abort()
			t.Skip(err) // some systems do not rename files that are open
		}
		if err := os.WriteFile(path, []byte("other"), 0o666); err != nil {
			t.Fatal(err)
		}
		if !late {
			if err := w.Close(); !errors.Is(err, diskfile.ErrMoved) {
				t.Errorf("error of the writer %v", err)
			}
		}
		if err := f.Close(); !errors.Is(err, diskfile.ErrMoved) || !strings.HasPrefix(err.Error(), path+": the file was moved") {
			t.Errorf("late %v: error %v", late, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "other" {
			t.Errorf("late %v: the other file has %q, error %v", late, b, err)
		}
		r, err := ntuple.Open(location.Parse(path+".moved"), "", readOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		checkNumbers(t, "moved", r, 3)
		closeAll(t, r)
	}
}

// TestLastCommit has something happen just before the last commit changes a file, or gives it its
// name: the error says whether the entries are in the file.
func TestLastCommit(t *testing.T) {
	for _, test := range []struct {
		name    string
		publish bool // the file before
		act     func(path string, cancel func()) error
		want    error
		says    string
		entries int // that the file has in the end; 0: there is none
	}{
		{"nothing", true, func(string, func()) error { return nil }, nil, "", 6},
		{"canceled", true, func(_ string, cancel func()) error { cancel(); return nil }, context.Canceled, "", 3},
		{"canceled, new", false, func(_ string, cancel func()) error { cancel(); return nil }, context.Canceled, "", 0},
		{"moved", true, func(path string, _ func()) error { return os.Rename(path, path+".moved") }, diskfile.ErrMoved,
			"f.root: everything is committed, but may be undone: the file was moved", 6},
	} {
		path := filepath.Join(t.TempDir(), "f.root")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var actErr error
		armed := false
		o := writeOptions(t, func(o *ntuple.WriteOptions) {
			o.NoSync = true
			o.Context = diskfile.WithLastLook(ctx, func(string) {
				if armed {
					armed, actErr = false, test.act(path, cancel)
				}
			})
		})
		f, err := ntuple.CreateFile(path, o)
		if err != nil {
			t.Fatal(err)
		}
		w := create(t, f, "n", header(t, "n"))
		data := fill(t, w, 0)
		data.put(3)
		if test.publish {
			if err := w.Checkpoint(); err != nil {
				t.Fatal(err)
			}
		}
		data.put(3)
		closeAll(t, w)
		armed = true
		err = f.Close()
		if actErr != nil {
			continue // some systems do not rename files that are open
		}
		if armed || !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: error %v", test.name, err)
		}
		if _, err := os.Stat(path + ".moved"); err == nil {
			path += ".moved"
		}
		if _, err := os.Stat(path); (err == nil) != (test.entries > 0) {
			t.Errorf("%s: there is a file: %v", test.name, err == nil)
		}
		if test.entries == 0 {
			continue
		}
		r, err := ntuple.Open(location.Parse(path), "", readOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		checkNumbers(t, test.name, r, test.entries)
		closeAll(t, r)
	}
}

// TestWriteFails has one write after the other fail: the error comes out, and the file has what was
// committed before it.
func TestWriteFails(t *testing.T) {
	run := func(fail int) (s *store, committed int, err error) {
		s = new(store)
		s.failWrite = func(i int) error {
			if i == fail {
				return errBroken
			}
			return nil
		}
		o := writeOptions(t, func(o *ntuple.WriteOptions) { o.Pages.Workers = 1 })
		f, err := ntuple.NewFile(s, "f", o)
		if err != nil {
			return s, 0, err
		}
		steps := func() error {
			w, err := f.Create("n", header(t, "n"), o)
			if err != nil {
				return err
			}
			set, err := w.CreateSet(setHeader(t, "set"), o)
			if err != nil {
				return err
			}
			b, err := pagesink.NewBuffer[int32](w.Sink, w.Schema.Columns[0])
			if err != nil {
				return err
			}
			for k := range 3 {
				for i := range 10 {
					b.Add(int32(10*k + i))
					if err := w.Sink.EndEntries(1); err != nil {
						return err
					}
				}
				if k == 1 {
					fillSet(t, set)
				}
				if err := w.Checkpoint(); err != nil {
					return err
				}
				committed += 10
			}
			return w.Close()
		}
		err = steps()
		return s, committed, errors.Join(err, f.Close())
	}
	s, committed, err := run(-1)
	if err != nil || committed != 30 {
		t.Fatal(err)
	}
	total := s.writes
	checkNumbers(t, "without a fault", s.open(t, "n"), 30)
	for i := range total {
		s, committed, err := run(i)
		if !errors.Is(err, errBroken) {
			t.Errorf("write %d of %d: %v", i, total, err)
		}
		if committed == 0 {
			continue // there may be no file at all
		}
		r, err := ntuple.NewReader(s, s.Size(), "n", readOptions(t))
		if err != nil {
			t.Errorf("write %d of %d: %v", i, total, err)
			continue
		}
		// a write behind that of the head may fail
		if n := int(r.Source.Entries); n != committed && n != committed+10 {
			t.Errorf("write %d of %d: %d entries, %d were committed", i, total, n, committed)
		}
		checkNumbers(t, "after a fault", r, int(r.Source.Entries))
	}
}

// TestErrorOfOther has one of two writers to a file fail: the other one, which is sound, ends with that
// error, too, and nothing of either is in the file.
func TestErrorOfOther(t *testing.T) {
	s, f := newStore(t, writeOptions(t))
	broken, sound := create(t, f, "broken", header(t, "broken")), create(t, f, "sound", header(t, "sound"))
	put(t, sound, 10)
	broken.Sink.Fail(errBroken)
	for _, closing := range []func() error{broken.Close, sound.Close, f.Close} {
		if err := closing(); !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), `RNTuple "broken": `) {
			t.Errorf("error %v", err)
		}
	}
	if infos, _ := ntuple.List(s, s.Size()); len(infos) > 0 {
		t.Errorf("the file lists %v", infos)
	}
}

// TestCycleInName refuses names that readers would take for one with a cycle. Attribute sets have
// no cycles.
func TestCycleInName(t *testing.T) {
	o := writeOptions(t)
	s, f := newStore(t, o)
	for _, path := range []string{"n;3", "d/n;1"} {
		if _, err := f.Create(path, header(t, "n"), o); err == nil ||
			!strings.Contains(err.Error(), "the name ends in a cycle") {
			t.Errorf("%q: %v", path, err)
		}
	}
	w := create(t, f, "n;", header(t, "n"))
	if _, err := w.CreateSet(setHeader(t, "set;3"), o); err != nil {
		t.Error(err)
	}
	closeAll(t, w, f)
	if _, err := s.open(t, "n;").OpenSet("set;3"); err != nil {
		t.Error(err)
	}
}

// TestReuse commits an RNTuple and its attribute set again and again: what only earlier states
// needed becomes free.
func TestReuse(t *testing.T) {
	o := writeOptions(t)
	s, f := newStore(t, o)
	w := create(t, f, "n", header(t, "n"))
	set, err := w.CreateSet(setHeader(t, "set"), o)
	if err != nil {
		t.Fatal(err)
	}
	data := fill(t, w, 0)
	const n = 30
	for range n {
		data.put(1)
		fillSet(t, set)
		if err := w.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	writes := s.writes
	if err := w.Checkpoint(); err != nil || s.writes != writes {
		t.Errorf("%d writes, though nothing has changed: %v", s.writes-writes, err)
	}
	closeAll(t, w)
	if err := set.Close(); err != ntuple.ErrClosed {
		t.Errorf("closing a set after its RNTuple: %v", err)
	}
	closeAll(t, f)
	r := s.open(t, "n")
	opened, err := r.OpenSet("set")
	if err != nil {
		t.Fatal(err)
	}
	blobs := 0 // that are in use
	for _, r := range []*ntuple.Reader{r, opened} {
		blobs += 2 + len(r.Footer.ClusterGroups) // header, footer and page lists
		clusters, err := r.Source.Clusters(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages := map[uint64]bool{}
		for _, c := range clusters {
			for _, column := range c.Columns() {
				for _, p := range column.Pages {
					pages[p.Locator.Offset] = true
				}
			}
		}
		blobs += len(pages)
	}
	got := map[string]int{}
	if err := rootfile.Scan(t.Context(), s, s.Size(),
		func(r rootfile.Record) error { got[r.Class]++; return nil }); err != nil {
		t.Fatal(err)
	}
	const before = 4 // records of the state before, of each kind
	if got["ROOT::RNTuple"] > 2+before || got[rootfile.BlobClassName] > blobs+2*before {
		t.Errorf("%d anchors of 2, and %d blobs of %d, after %d commits", got["ROOT::RNTuple"],
			got[rootfile.BlobClassName], blobs, n)
	}
	checkNumbers(t, "in the end", r, n)
}
