package rntuple_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/test/wiretest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// many returns the n-th of equal things.
func many[T any](n int, v T) []T { return slices.Repeat([]T{v}, n) }

// hostile are small files that hold, compressed, as much as they can.
var hostile = []lie{
	{"12,000 empty records in one", fields(func(s schemaOf, h *envelope.Header) {
		h.Fields = many(12000, envelope.Field{Role: envelope.RoleRecord})
	}), ""},
	{"12,000 fields of an unknown kind", fields(func(s schemaOf, h *envelope.Header) {
		h.Fields = many(12000, envelope.Field{Role: 9})
	}), "cannot be read"},
	{"990 levels of records", fields(func(s schemaOf, h *envelope.Header) {
		for i := range 990 {
			s.field(max(0, i-1), "", "", envelope.RoleRecord)
		}
	}), ""},
	{"900 vectors in a field with a name of 250 KB", func(b *builder) edits {
		s := b.regular()
		s.field(-1, strings.Repeat("n", 250<<10), "", envelope.RoleRecord)
		for range 900 {
			v := s.field(0, "", "", envelope.RoleCollection)
			s.column(v, column.Index64)
			s.field(v, "", "", envelope.RoleRecord)
		}
		b.cluster(1, many(900, chunk(0, page[uint64](b, column.Index64, 0)))...)
		return edits{}
	}, "the path of field 0 has more than"},
	{"a type name of 400 KB", fields(func(s schemaOf, h *envelope.Header) {
		s.column(s.field(-1, "x", strings.Repeat("std::vector<", 30000), envelope.RolePlain), column.Int32)
	}), "cannot be read"},
	{"8000 cluster groups", func(b *builder) edits {
		return edits{footer: func(f *envelope.Footer) { f.ClusterGroups = many(8000, envelope.ClusterGroup{}) }}
	}, "need 8 bytes, have 0"},
	{"9000 attribute sets of one name", func(b *builder) edits {
		return edits{footer: func(f *envelope.Footer) { f.AttributeSets = many(9000, envelope.AttributeSet{Name: "a"}) }}
	}, "two of this name"},
	{"13,000 clusters, each without the columns", func(b *builder) edits {
		for i := range 20 {
			b.extension().column(b.extension().field(-1, string('a'+rune(i)), "float", envelope.RolePlain), column.Real32)
		}
		for range 13000 {
			b.cluster(0)
		}
		b.cluster(1)
		return edits{}
	}, ""},
	{"30,000 times the same page", func(b *builder) edits {
		scalar(b, "std::int8_t", column.Int8)
		b.cluster(30000<<20, chunk(0, many(30000, squeezed(b, 505, 1<<20))...))
		return edits{}
	}, ""},
	{"30,000 empty pages, in a collection", func(b *builder) edits {
		vector(b)
		b.cluster(1, chunk(0, page[uint64](b, column.Index64, 0)), chunk(0, many(30000, envelope.Page{})...))
		return edits{}
	}, ""},
	{"4 MiB of indexes to empty records", func(b *builder) edits {
		v := b.regular().field(-1, "v", "", envelope.RoleCollection)
		b.regular().column(v, column.Index64)
		b.regular().field(v, "_0", "", envelope.RoleRecord)
		p := squeezed(b, 505, 4<<20)
		p.NumElements /= 8
		b.cluster(uint64(p.NumElements), chunk(0, p))
		return edits{}
	}, ""},
	{"a collection of 4 million bytes", func(b *builder) edits {
		v := b.regular().field(-1, "v", "std::vector<std::int8_t>", envelope.RoleCollection)
		b.regular().column(v, column.Index64)
		b.regular().column(b.regular().field(v, "_0", "std::int8_t", envelope.RolePlain), column.Int8)
		b.cluster(1, chunk(0, page[uint64](b, column.Index64, 4<<20)), chunk(0, squeezed(b, 505, 4<<20)))
		return edits{}
	}, "(rntuple.Limits.EntryBytes)"},
	{"an array of 4 million bits", func(b *builder) edits {
		b.regular().column(b.regular().field(-1, "x", "", envelope.RolePlain, repeat(4<<20)), column.Bit)
		p := squeezed(b, 505, 4<<20/8)
		p.NumElements *= 8
		b.cluster(1, chunk(0, p))
		return edits{}
	}, "(rntuple.Limits.EntryBytes)"},
}

// TestLimits reads hostile files with the default limits. None of a kilobyte takes
// more than some megabytes, or a second.
func TestLimits(t *testing.T) {
	for _, test := range hostile {
		t.Run(test.name, func(t *testing.T) {
			b := newBuilder(t)
			b.zip, b.file = 505, b.file[:300] // room for the first records
			file := b.bytes(test.build(b))
			file = append(file, make([]byte, max(0, 1024-len(file)))...)
			expectFrugal(t, file, test.says, 12<<10*uint64(len(file)))
		})
	}
}

// expectFrugal looks at a file, expects an error that says something or, if that
// is empty, none, and makes sure that it costs what it may.
func expectFrugal(t *testing.T, file []byte, says string, memory uint64) {
	t.Helper()
	m := &meter{Reader: bytes.NewReader(file)}
	var err error
	begin := time.Now()
	allocated := wiretest.Allocated(func() { err = probe(m, int64(len(file))) })
	took := time.Since(begin)
	if says == "" && err != nil {
		t.Error(err)
	} else if says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
		t.Errorf("error %.500v\nwant one that says %q", err, says)
	} else if err != nil {
		sound(t, err)
	}
	if allocated > memory {
		t.Errorf("%d bytes of memory for a file of %d, at most %d are expected", allocated, len(file), memory)
	}
	if m.bytes > 4*int64(len(file)) || m.reads > 100 {
		t.Errorf("%d reads of %d bytes, the file has %d", m.reads, m.bytes, len(file))
	}
	if took > time.Minute { // a second, on a machine that does nothing else
		t.Errorf("took %v", took)
	}
	t.Logf("%d bytes: %d KiB of memory, %v: %.200v", len(file), allocated>>10, took, err)
}

// TestRealFiles makes sure that no real file is near a limit. The nearest one holds
// pages of 1 MiB in 1765 bytes.
func TestRealFiles(t *testing.T) {
	files := 0
	type most struct {
		share float64 // of the limit
		what  string
	}
	var envelopes, pages most
	keep := func(m *most, size, limit int64, format string, args ...any) {
		if share := float64(size) / float64(limit); share > m.share {
			*m = most{share, fmt.Sprintf(format, args...)}
		}
	}
	for _, pattern := range []string{"testdata/*.root", "testdata/good/*.root", "../shared/testdata/root/*.root",
		"../shared/testdata/legacy/*.root"} {
		names, err := filepath.Glob(filepath.Join("..", pattern))
		check(t, err)
		for _, name := range names {
			infos, err := rntuple.ListFile(context.Background(), name, nil)
			check(t, err)
			stat, err := os.Stat(name)
			check(t, err)
			limits := rntuple.Limits{}.For(stat.Size())
			for _, info := range infos {
				files++
				r, err := rntuple.Open(name, info.Path, nil)
				check(t, err)
				in, err := r.Inspect(nil)
				check(t, err)
				for _, e := range []rntuple.EnvelopeSize{in.Header, in.Footer, in.PageLists} {
					keep(&envelopes, int64(e.Length), limits.EnvelopeBytes, "%s: envelope of %d bytes, %d on disk, in a file of %d",
						name, e.Length, e.Disk, stat.Size())
				}
				clusters, err := r.Source().Clusters(context.Background())
				check(t, err)
				for _, c := range clusters {
					for id, stored := range c.Columns() {
						for _, p := range stored.Pages {
							format := r.Schema().Columns[id].Format()
							size := int64(p.NumElements) * int64(max(8, format.Bits)) / 8
							keep(&pages, size, limits.PageBytes, "%s: page of %d bytes in memory, in a file of %d", name, size, stat.Size())
						}
					}
				}
				check(t, r.Close())
			}
		}
	}
	t.Logf("%d RNTuples", files)
	for _, m := range []most{envelopes, pages} {
		t.Logf("at most %.3f of the limit: %s", m.share, m.what)
		if m.share > 0.3 || m.share == 0 {
			t.Error("that is not as expected")
		}
	}
}

// An error of a limit says which one it is, what was needed and what it is.
func TestLimitError(t *testing.T) {
	const path = "../testdata/dimuon.root"
	entries := func(l rntuple.Limits) error {
		r, err := rntuple.Open(path, "Events", &rntuple.ReadOptions{Limits: l})
		if err != nil {
			return err
		}
		defer r.Close()
		view, err := rntuple.RecordsOf(r)
		check(t, err)
		for range view.All() {
		}
		return view.Err()
	}
	check(t, entries(rntuple.Limits{PageBytes: 1 << 20, EntryBytes: 1 << 20, EnvelopeBytes: 1 << 20}))
	for limit, l := range map[string]rntuple.Limits{
		"PageBytes": {PageBytes: 8}, "EntryBytes": {EntryBytes: 8}, "EnvelopeBytes": {EnvelopeBytes: 8},
	} {
		err := entries(l)
		var e *frame.LimitError
		if !errors.As(err, &e) || !errors.Is(err, rntuple.ErrUnsupported) || e.Limit != limit || e.Have != 8 || e.Need <= 8 ||
			e.What == "" || !strings.Contains(err.Error(), "rntuple.Limits."+limit) {
			t.Errorf("%s: %v", limit, err)
		}
	}
	b, err := os.ReadFile(path)
	check(t, err)
	own := filepath.Join(t.TempDir(), "own.root")
	check(t, os.WriteFile(own, b, 0o666))
	if _, err := rntuple.AppendRecords(own, "Events",
		&rntuple.WriteOptions{Limits: rntuple.Limits{EnvelopeBytes: 8}}); !errors.As(err, new(*frame.LimitError)) {
		t.Error(err)
	}
}

// A writer knows which limits readers must raise, and these suffice.
func TestNeeds(t *testing.T) {
	for _, test := range []struct {
		name           string
		entries, items int
		opts           *rntuple.WriteOptions
		need           string // the limit that must be raised, or none
	}{
		{"small", 1000, 2, nil, ""},
		{"a large file", 2 << 20, 0, nil, ""},
		{"many pages", 4 << 20, 0, &rntuple.WriteOptions{MaxUnzippedPageSize: 64}, "EnvelopeBytes"},
		{"a large page", 15 << 20, 0, &rntuple.WriteOptions{MaxUnzippedPageSize: 15 << 20}, "PageBytes"},
		{"a large entry", 1, 1 << 20, nil, "EntryBytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out.root")
			doc := &schema.Document{Name: "n", Fields: []*schema.FieldDocument{{Name: "x", Type: "std::int8_t"}}}
			if test.items > 0 {
				doc.Fields = append(doc.Fields, &schema.FieldDocument{Name: "v", Type: "std::vector<double>"})
			}
			w, err := rntuple.CreateColumns(path, "n", doc, test.opts)
			check(t, err)
			f := w.Filler()
			check(t, rntuple.Put(f, "x", make([]int8, test.entries)))
			if test.items > 0 {
				check(t, rntuple.Put(f, "v", many(test.entries, make([]float64, test.items))))
			}
			check(t, f.End(int64(test.entries)))
			check(t, f.Close())
			check(t, w.Close())
			need := w.Needs()
			info, err := os.Stat(path)
			check(t, err)
			t.Logf("%d bytes, limits %+v", info.Size(), rntuple.Limits{}.For(info.Size()))
			got := ""
			for limit, n := range map[string]int64{"PageBytes": need.PageBytes, "EntryBytes": need.EntryBytes,
				"EnvelopeBytes": need.EnvelopeBytes} {
				if n > 0 {
					got += limit
				}
			}
			if got != test.need {
				t.Errorf("%+v is needed, want %q", need, test.need)
			}
			read := func(l rntuple.Limits) error {
				r, err := rntuple.Open(path, "n", &rntuple.ReadOptions{Limits: l})
				if err != nil {
					return err
				}
				defer r.Close()
				view, err := rntuple.RecordsOf(r)
				check(t, err)
				_, err = view.Read(make([]value.Record, 1), 0)
				return err
			}
			check(t, read(need))
			var e *frame.LimitError
			if err := read(rntuple.Limits{}); test.need == "" && err != nil || test.need != "" &&
				(!errors.As(err, &e) || e.Limit != test.need) {
				t.Error(err)
			}
		})
	}
}
