package envelope_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	. "github.com/go-rntuple/go-rntuple/internal/test/wiretest"
	"github.com/go-rntuple/go-rntuple/locator"
)

var (
	headers   = Envelope("header", 1, envelope.ParseHeader, (*envelope.Header).Append)
	footers   = Envelope("footer", 2, envelope.ParseFooter, (*envelope.Footer).Append)
	pageLists = Envelope("page list", 3, parseBoth, (*envelope.PageList).Append)
)

// parseBoth makes sure that the shortcut for page lists changes nothing, and that a list
// which is only scanned at first has the same errors and the same pages.
func parseBoth(b []byte) (*envelope.PageList, error) {
	got, err := envelope.ParsePageList(b)
	want, wantErr := envelope.ParsePageListPlainly(b)
	if err == nil && !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		panic(fmt.Sprintf("with the shortcut %+v, %v; without %+v, %v", got, err, want, wantErr))
	}
	scanned, scanErr := envelope.ScanPageList(b)
	if fmt.Sprint(scanErr) != fmt.Sprint(wantErr) {
		panic(fmt.Sprintf("scanning: %v; parsing: %v", scanErr, wantErr))
	}
	if err != nil {
		return got, err
	}
	if scanned.HeaderChecksum != want.HeaderChecksum || !reflect.DeepEqual(scanned.Clusters, want.Clusters) ||
		len(scanned.Pages) != len(want.Pages) {
		panic(fmt.Sprintf("scanned %+v, parsed %+v", scanned, want))
	}
	for _, scanned := range []*envelope.ScannedPageList{scanned, want.Scanned()} {
		for i, p := range scanned.Pages {
			if c := p.Columns(); !reflect.DeepEqual(c, want.Pages[i].Columns) || p.NumColumns() != len(c) {
				panic(fmt.Sprintf("cluster %d: scanned %+v, parsed %+v", i, c, want.Pages[i].Columns))
			}
		}
	}
	return got, nil
}

// The vectors lack the checksum, and the length in the head.

const header = `
	01 00  00 00 00 00 00 00             # type
	00 00 00 00 00 00 00 00              # no feature flags
	03 00 00 00 "ntp"                    # name
	00 00 00 00                          # description
	04 00 00 00 "hand"                   # writer
	[ 76 ff ff ff ff ff ff ff            # fields: list frame of 138 bytes
	  02 00 00 00
	  [ 3e 00 00 00 00 00 00 00          # record frame of 62 bytes
	    00 00 00 00  00 00 00 00         # field version, type version
	    00 00 00 00  00 00  00 00        # its own parent: top level; plain; no flags
	    02 00 00 00 "pt"  05 00 00 00 "float"
	    00 00 00 00  0f 00 00 00 "transverse mom." ]
	  [ 40 00 00 00 00 00 00 00          # record frame of 64 bytes
	    00 00 00 00  00 00 00 00
	    01 00 00 00  00 00  02 00        # projected
	    02 00 00 00 "pp"  05 00 00 00 "float"
	    00 00 00 00  0d 00 00 00 "a projection."
	    00 00 00 00 ] ]                  # source
	[ d8 ff ff ff ff ff ff ff            # columns
	  01 00 00 00
	  [ 1c 00 00 00 00 00 00 00  18 00  20 00   # SplitReal32, 32 bits
	    00 00 00 00  00 00  00 00 "long" "er" "er" ] ]
	[ e4 ff ff ff ff ff ff ff            # alias columns
	  01 00 00 00
	  [ 10 00 00 00 00 00 00 00  00 00 00 00  01 00 00 00 ] ]
	[ f4 ff ff ff ff ff ff ff 00 00 00 00 ]  # no extra type information`

func TestHeader(t *testing.T) {
	got := headers.Check(t, Hex(header))
	want := &envelope.Header{
		Features: envelope.Features{0}, Name: "ntp", Writer: "hand",
		Schema: envelope.Schema{
			Fields: []envelope.Field{
				{Name: "pt", TypeName: "float", Description: "transverse mom."},
				{Parent: 1, Flags: envelope.FieldProjected, Name: "pp", TypeName: "float", Description: "a projection."},
			},
			Columns:    []envelope.Column{{Type: column.SplitReal32, Bits: 32, Extra: []byte("longerer")}},
			Aliases:    []envelope.Alias{{Column: 0, Field: 1}},
			ExtraTypes: []envelope.ExtraTypeInfo{},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

const (
	footerHead = `
		02 00  00 00 00 00 00 00             # type
		00 00 00 00 00 00 00 00              # no feature flags
		88 77 66 55 44 33 22 11              # checksum of the header
`
	noExtension = `[ 08 00 00 00 00 00 00 00 ]`
	emptyLists  = `
		[ 38 00 00 00 00 00 00 00            # record frame of 56 bytes
		  [ f4 ff ff ff ff ff ff ff 00 00 00 00 ]  [ f4 ff ff ff ff ff ff ff 00 00 00 00 ]
		  [ f4 ff ff ff ff ff ff ff 00 00 00 00 ]  [ f4 ff ff ff ff ff ff ff 00 00 00 00 ] ]`
	noGroups = `[ f4 ff ff ff ff ff ff ff 00 00 00 00 ]`
	oneGroup = `
		[ c4 ff ff ff ff ff ff ff            # list frame of 60 bytes
		  01 00 00 00
		  [ 30 00 00 00 00 00 00 00
		    00 00 00 00 00 00 00 00  14 00 00 00 00 00 00 00  03 00 00 00
		    00 01 00 00 00 00 00 00  80 00 00 00  00 10 00 00 00 00 00 00 ] ]`
	noSets = `[ f4 ff ff ff ff ff ff ff 00 00 00 00 ]`
	oneSet = `
		[ d2 ff ff ff ff ff ff ff            # list frame of 46 bytes
		  01 00 00 00
		  [ 22 00 00 00 00 00 00 00  01 00  00 00  4e 00 00 00
		    4e 00 00 00  00 10 00 00 00 00 00 00  02 00 00 00 "at" ] ]`
)

// Footers with and without what versions of the format differ in.
func TestFooter(t *testing.T) {
	for _, test := range []struct {
		extension, groups, sets string
	}{
		{emptyLists, oneGroup, ""}, // 1.0.0.x
		{emptyLists, noGroups, ""},
		{emptyLists, oneGroup, noSets}, // 1.0.1.0 and later
		{emptyLists, oneGroup, oneSet},
		{noExtension, oneGroup, ""},
		{noExtension, noGroups, noSets},
		{noExtension, oneGroup, oneSet},
	} {
		v := Hex(footerHead + test.extension + test.groups + test.sets)
		f := footers.RoundTrip(t, footers.Seal(v.Bytes))
		if f.HeaderChecksum != 0x1122334455667788 ||
			(f.Extension != nil) != (test.extension == emptyLists) ||
			len(f.ClusterGroups) != 1 && test.groups == oneGroup ||
			(f.AttributeSets != nil) != (test.sets != "") ||
			len(f.AttributeSets) != 1 && test.sets == oneSet {
			t.Errorf("%+v: got %+v", test, f)
		}
		// Up to the attribute sets the footer is one of an older version.
		footers.Prefixes(t, v, len(v.Bytes)-len(Hex(test.sets).Bytes))
		footers.Damage(t, v)
		if test.sets != "" && test.extension != noExtension {
			footers.Extra(t, v)
		}
	}
	got := footers.RoundTrip(t, footers.Seal(Hex(footerHead+emptyLists+oneGroup+oneSet).Bytes))
	want := &envelope.Footer{
		Features: envelope.Features{0}, HeaderChecksum: 0x1122334455667788,
		Extension: &envelope.Schema{Fields: []envelope.Field{}, Columns: []envelope.Column{}, Aliases: []envelope.Alias{},
			ExtraTypes: []envelope.ExtraTypeInfo{}},
		ClusterGroups: []envelope.ClusterGroup{{EntrySpan: 20, NumClusters: 3,
			PageList: locator.Link{Length: 256, Locator: locator.Locator{Size: 128, Offset: 4096}}}},
		AttributeSets: []envelope.AttributeSet{{SchemaMajor: 1, AnchorLength: 78,
			Anchor: locator.Locator{Size: 78, Offset: 4096}, Name: "at"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

const pageList = `
	03 00  00 00 00 00 00 00             # type
	88 77 66 55 44 33 22 11              # checksum of the header
	[ c4 ff ff ff ff ff ff ff            # 2 cluster summaries of 24 bytes
	  02 00 00 00
	  [ 18 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  0a 00 00 00 00 00 00 00 ]
	  [ 18 00 00 00 00 00 00 00  0a 00 00 00 00 00 00 00  05 00 00 00 00 00 00 00 ] ]
	[ 60 ff ff ff ff ff ff ff            # clusters, 160 bytes
	  02 00 00 00
	  [ cc ff ff ff ff ff ff ff          # columns of the first cluster, 52 bytes
	    01 00 00 00                      # the other one was added later
	    [ d8 ff ff ff ff ff ff ff        # pages of column 0
	      01 00 00 00
	      f6 ff ff ff                    # 10 elements, with checksum
	      28 00 00 00  00 10 00 00 00 00 00 00
	      00 00 00 00 00 00 00 00        # element offset
	      f9 01 00 00 ] ]                # compression settings 505
	  [ a0 ff ff ff ff ff ff ff          # columns of the second cluster, 96 bytes
	    02 00 00 00
	    [ ec ff ff ff ff ff ff ff        # column 0 is suppressed
	      00 00 00 00
	      00 00 00 00 00 00 00 80 ]
	    [ c0 ff ff ff ff ff ff ff        # pages of column 1, 64 bytes
	      02 00 00 00
	      04 00 00 00  10 00 00 00  00 20 00 00 00 00 00 00
	      01 00 00 00                    # 1 element, without checksum
	      ec ff ff fe  00 00 00 80 00 00 00 00  00 30 00 00 00 00 00 00   # large locator
	      0a 00 00 00 00 00 00 00
	      00 00 00 00 ] ] ]`

func TestPageList(t *testing.T) {
	got := pageLists.Check(t, Hex(pageList))
	want := &envelope.PageList{
		HeaderChecksum: 0x1122334455667788,
		Clusters:       []envelope.Cluster{{NumEntries: 10}, {FirstEntry: 10, NumEntries: 5}},
		Pages: []envelope.ClusterPages{
			{Columns: []envelope.ColumnPages{
				{Pages: []envelope.Page{{NumElements: 10, HasChecksum: true, Locator: locator.Locator{Size: 40, Offset: 4096}}},
					Compression: 505},
			}},
			{Columns: []envelope.ColumnPages{
				{Pages: []envelope.Page{}, ElementOffset: envelope.Suppressed},
				{Pages: []envelope.Page{
					{NumElements: 4, Locator: locator.Locator{Size: 16, Offset: 8192}},
					{NumElements: 1, Locator: locator.Locator{Type: locator.Large, Size: 1 << 31, Offset: 12288}},
				}, ElementOffset: 10},
			}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// The head holds the type in 16 bits and the length of everything in 48; every
// bit of the envelope counts.
func TestHeadAndChecksum(t *testing.T) {
	b := Seal(3, Hex(`00 00 00 00 00 00 00 00`+LE(8, 1)+List(0)+List(0)).Bytes)
	if !bytes.Equal(b[:8], []byte{3, 0, 48, 0, 0, 0, 0, 0}) { // 8 + 8 + 12 + 12 + 8
		t.Fatalf("head %x", b[:8])
	}
	if p := pageLists.RoundTrip(t, b); p.HeaderChecksum != 1 || envelope.Checksum(b) == 0 {
		t.Errorf("got %+v", p)
	}
	for bit := range 8 * len(b) {
		damaged := bytes.Clone(b)
		damaged[bit/8] ^= 1 << (bit % 8)
		_, err := envelope.ParsePageList(damaged)
		kind, path := frame.ErrChecksum, "page list.checksum"
		switch {
		case bit < 16:
			kind, path = frame.ErrCorrupt, "page list.type"
		case bit < 64:
			kind, path = frame.ErrCorrupt, "page list.length"
		}
		if f := Fault(t, err, kind); f != nil && f.Path != path {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
	for _, other := range []func() error{
		func() error { _, err := envelope.ParseHeader(b); return err },
		func() error { _, err := envelope.ParseFooter(b); return err },
		func() error { _, err := envelope.ParsePageList(append(b, 0)); return err },
		func() error { _, err := envelope.ParsePageList(nil); return err },
		func() error { _, err := envelope.ParsePageList([]byte{3, 0, 8, 0, 0, 0, 0, 0}); return err },
	} {
		Fault(t, other(), frame.ErrCorrupt)
	}
	for kind, want := range map[envelope.Type]string{1: "header", 2: "footer", 3: "page list", 0x2a: "Type(0x2a)"} {
		if kind.String() != want {
			t.Errorf("%v, want %s", kind, want)
		}
	}
}

// What ROOT wrote is written as it was, and whatever is missing at its end is missed.
func TestRealEnvelopes(t *testing.T) {
	seeds := Seeds(t)
	if len(seeds) == 0 {
		t.Skip("no ROOT files in testdata or ../shared/testdata/root")
	}
	for _, s := range seeds {
		h := headers.RoundTrip(t, s.Header)
		f := footers.RoundTrip(t, s.Footer)
		sum := envelope.Checksum(s.Header)
		if f.HeaderChecksum != sum || h.Features.Supported() != nil || f.Features.Supported() != nil || h.Name == "" {
			t.Errorf("%s: header %q, checksum %#x, footer names %#x", s.Name, h.Name, sum, f.HeaderChecksum)
		}
		for i, b := range s.PageLists {
			p := pageLists.RoundTrip(t, b)
			if p.HeaderChecksum != sum || len(p.Clusters) != int(f.ClusterGroups[i].NumClusters) ||
				len(p.Pages) != len(p.Clusters) {
				t.Errorf("%s: page list %d: %+v", s.Name, i, p)
			}
		}
		if len(s.Header) < 4000 {
			headers.Prefixes(t, Vector{Bytes: s.Header[:len(s.Header)-8]})
		}
	}
	t.Logf("%d RNTuples", len(seeds))
}

// The fuzzers see envelopes without length and checksum, and give them the right ones.
func fuzz[T any](f *testing.F, codec Codec[T], vectors []string, pick func(Seed) [][]byte) {
	for _, v := range vectors {
		f.Add(Hex(v).Bytes)
	}
	for _, s := range Seeds(f) {
		for _, b := range pick(s) {
			f.Add(b[:len(b)-8])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		codec.Try(t, b)
		codec.Try(t, codec.Seal(b))
	})
}

func FuzzHeader(f *testing.F) {
	fuzz(f, headers, []string{header}, func(s Seed) [][]byte { return [][]byte{s.Header} })
}

func FuzzFooter(f *testing.F) {
	vectors := []string{footerHead + emptyLists + oneGroup + oneSet, footerHead + noExtension + noGroups}
	fuzz(f, footers, vectors, func(s Seed) [][]byte { return [][]byte{s.Footer} })
}

func FuzzPageList(f *testing.F) {
	fuzz(f, pageLists, []string{pageList}, func(s Seed) [][]byte { return s.PageLists })
}

func BenchmarkPageList(b *testing.B) {
	var list envelope.PageList
	for range 100 {
		list.Clusters = append(list.Clusters, envelope.Cluster{})
		list.Pages = append(list.Pages, envelope.ClusterPages{Columns: make([]envelope.ColumnPages, 1000)})
		for i := range list.Pages[0].Columns {
			list.Pages[len(list.Pages)-1].Columns[i].Pages = make([]envelope.Page, 1)
		}
	}
	bytes, err := list.Append(nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, parse := range map[string]func([]byte) error{
		"scan":  func(b []byte) error { _, err := envelope.ScanPageList(b); return err },
		"short": func(b []byte) error { _, err := envelope.ParsePageList(b); return err },
		"plain": func(b []byte) error { _, err := envelope.ParsePageListPlainly(b); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := parse(bytes); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e5, "ns/page")
		})
	}
}
