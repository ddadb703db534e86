package verify_test

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

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
	"github.com/go-rntuple/go-rntuple/value"
)

// check returns the problems of a file as lines; those of oddities begin with "oddity: ".
func check(t testing.TB, file []byte, opts *verify.Options) (lines []string, s *verify.Summary) {
	t.Helper()
	s, err := verify.ReaderAt(context.Background(), bytes.NewReader(file), int64(len(file)), func(p verify.Problem) error {
		line := fmt.Sprintf("%s: %v", p.Check, p)
		if p.Severity == verify.Oddity {
			line = "oddity: " + line
		}
		lines = append(lines, line)
		if p.Kind() == "read error" {
			t.Errorf("error of an unknown kind: %v", p)
		}
		return nil
	}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if (s.Problems > 0) != (len(damage(lines)) > 0) || (s.Problems+s.Oddities > 0) != (len(lines) > 0) {
		t.Errorf("%d problems, %d oddities, %d reported", s.Problems, s.Oddities, len(lines))
	}
	return lines, s
}

// damage returns the lines of check that are not about oddities.
func damage(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.HasPrefix(line, "oddity: ") })
}

// Files that ROOT wrote, of all ages, have no problems.
func TestGood(t *testing.T) {
	own, _ := filepath.Glob("../../testdata/*.root")
	good, _ := filepath.Glob("../../testdata/good/*.root")
	shared, _ := filepath.Glob("../../../shared/testdata/root/*.root")
	legacy, _ := filepath.Glob("../../../shared/testdata/legacy/*.root")
	if len(own)+len(good) < 20 {
		t.Errorf("only %d files", len(own)+len(good))
	}
	if len(shared)+len(legacy) == 0 {
		t.Log("the shared test data are not there")
	}
	for _, path := range slices.Concat(own, good, shared, legacy) {
		s, err := verify.File(context.Background(), path, func(p verify.Problem) error {
			t.Errorf("%s: %v", p.File, p)
			return nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.RNTuples == 0 || s.Envelopes != 2*s.RNTuples && s.Pages == 0 || s.Bytes == 0 || s.Records == 0 &&
			!strings.Contains(path, "bare") {
			t.Errorf("%s: %+v", path, s)
		}
		// ROOT left these when it added to a file.
		for _, skipped := range s.Skipped {
			if !strings.Contains(path, "rc2b_extension_columns") && !strings.Contains(path, "bare") {
				t.Errorf("%s: %s", path, skipped)
			}
		}
	}
}

func TestSummary(t *testing.T) {
	lines, s := check(t, newDraft().file(t), nil)
	// Of 12 columns one is suppressed in each cluster; the second one has no
	// strings, characters and alternatives.
	want := verify.Summary{RNTuples: 1, Records: 1 + 4 + 18 + 1 + 3, Envelopes: 4, Clusters: 2,
		Pages: 11 + 7, Bytes: s.Bytes}
	if fmt.Sprint(*s) != fmt.Sprint(want) || len(lines) > 0 {
		t.Errorf("got %+v, want %+v; %q", *s, want, lines)
	}
}

// Pages that cycles of an RNTuple have in common are checked once.
func TestCycles(t *testing.T) {
	d := newDraft()
	d.cycles = 2
	if lines, s := check(t, d.file(t), nil); len(lines) > 0 || s.RNTuples != 3 || s.Pages != 18 || s.Clusters != 6 {
		t.Errorf("%+v, %q", s, lines)
	}
	d.page(1, colX).elements = 7
	if lines, _ := check(t, d.file(t), nil); len(lines) != 2 ||
		!strings.HasPrefix(lines[0], `pages: RNTuple "n", cluster 1, column 0`) {
		t.Errorf("%q", lines)
	}
}

// page returns a page of a draft.
func (d *draft) page(group, column int) *draftPage {
	return &d.groups[group][0].columns[column].pages[0]
}

// TestLies has files whose checksums are right, but not what they cover.
func TestLies(t *testing.T) {
	stored := func(edit func(lists []envelope.PageList)) func(*draft) { return func(d *draft) { d.lists = edit } }
	linked := func(edit func(f *envelope.Footer)) func(*draft) { return func(d *draft) { d.links = edit } }
	name := func(field int, name string) func(*draft) {
		return func(d *draft) { d.header.Fields[field].Name = name }
	}
	set := func(ranges ...[2]uint64) func(*draft) {
		return func(d *draft) { d.sets = append(d.sets, newSet("s", ranges...)) }
	}
	const n = `RNTuple "n", `
	cases := []struct {
		name string
		edit func(d *draft)
		want []string // parts of lines: each is in one, and each line has one
	}{
		{"nothing", func(*draft) {}, nil},
		{"attributes", set([2]uint64{0, 3}, [2]uint64{3, 0}, [2]uint64{1, 1}), nil},
		{"chunks", func(d *draft) { d.maxKey = 100 }, nil},

		// Schema.
		{"dot", name(0, "x.y"), []string{`schema: ` + n + `field "x.y" at offset `, `the name has the character '.'`}},
		{"slash", name(0, "x/y"), []string{`has the character '/'`}},
		{"backslash", name(0, `x\y`), []string{`has the character '\\'`}},
		{"space", name(0, "x y"), []string{`has the character ' '`}},
		{"control", name(0, "x\x7fy"), []string{`has the character '\x7f'`}},
		{"empty", name(0, ""), []string{`the name is empty`}},
		{"siblings", name(0, "v"), []string{`field "v" at offset`, `there are several fields of this name`}},
		{"own name", func(d *draft) { d.header.Name = "a b" }, []string{`the name "a b" has the character ' '`}},
		{"parent", func(d *draft) { d.header.Fields[0].Parent = 5 }, []string{`has the parent 5`}},
		{"column of no field", func(d *draft) { d.header.Columns[colX].Field = 99 },
			[]string{`column 0 belongs to field 99 of 12`}},
		{"unknown column type", func(d *draft) { d.header.Columns[colX].Type = 99 }, []string{`field "x" at offset`}},
		{"wrong column type", func(d *draft) { d.header.Columns[colX].Type = column.Real32 },
			[]string{`has a column of type Real32`}},
		{"unknown role", func(d *draft) { d.header.Fields[0].Role = 77 }, []string{`has the structural role 0x4d`}},
		{"field version", func(d *draft) { d.header.Fields[0].Version = 1 }, []string{`has field version 1`}},
		{"representation", func(d *draft) { d.header.Columns[colDOther].Representation = 2 },
			[]string{`is of representation 2`}},
		{"alias of an unprojected field", func(d *draft) { d.header.Fields[11].Flags = 0 }, []string{`field "n" at offset`}},
		{"source", func(d *draft) { d.header.Fields[11].Source = 3 }, []string{
			`field "n" at offset`, `which is not of its source "o"`}},
		{"projection of no collection", func(d *draft) { d.header.Fields[11].Source = 0 },
			[]string{`its source "x" is not a collection`, `is not of its source "x"`}},
		{"nested deferral", func(d *draft) {
			d.header.Columns[colStr].Flags, d.header.Columns[colStr].FirstElement = envelope.ColumnDeferred, 3
		}, []string{`column 2 begins with element 3, but has no fixed number`}},
		{"deferral within an entry", func(d *draft) {
			d.header.Columns[colA].Flags, d.header.Columns[colA].FirstElement = envelope.ColumnDeferred, -3
		}, []string{`in the middle of an entry`, `is suppressed before element 3, the cluster begins with 0`}},
		{"features", func(d *draft) { d.header.Features = envelope.Features{4} },
			[]string{`header at offset`, `unknown feature flag 2`}},
		{"features of the footer", func(d *draft) { d.footer.Features = envelope.Features{4} },
			[]string{`footer at offset`, `unknown feature flag 2`}},

		// Cluster groups and clusters.
		{"gap between groups", linked(func(f *envelope.Footer) { f.ClusterGroups[1].MinEntry = 4 }), []string{
			`clusters: ` + n + `footer at offset`, `page list of cluster group 1 at offset`}},
		{"span", linked(func(f *envelope.Footer) { f.ClusterGroups[0].EntrySpan = 5 }), []string{
			`footer at offset`, `the clusters end before the entry 2, expected 5`}},
		{"number of clusters", linked(func(f *envelope.Footer) { f.ClusterGroups[1].NumClusters = 2 }),
			[]string{`1 cluster summaries and the pages of 1 clusters, expected 2`}},
		{"overlapping clusters", stored(func(l []envelope.PageList) { l[1].Clusters[0].FirstEntry = 1 }), []string{
			`cluster 1 begins with the entry 1, expected 2`, `the column begins with the element`}},
		{"sharded", stored(func(l []envelope.PageList) { l[1].Clusters[0].Flags = envelope.ClusterSharded }),
			[]string{`cluster 1 is sharded`}},
		{"other header", stored(func(l []envelope.PageList) { l[1].HeaderChecksum++ }),
			[]string{`belongs to a header with the checksum`}},
		{"link of the footer", linked(func(f *envelope.Footer) { f.HeaderChecksum++ }), []string{`footer at offset`}},
		{"type of envelope", linked(func(f *envelope.Footer) { f.ClusterGroups[0].PageList = f.ClusterGroups[1].PageList }),
			[]string{
				`page list of cluster group 0 at offset`}},
		{"columns", stored(func(l []envelope.PageList) {
			l[1].Pages[0].Columns = append(l[1].Pages[0].Columns, envelope.ColumnPages{})
		}), []string{`cluster 1 has 13 columns, the schema 12`}},

		// Locators.
		{"page out of the file",
			stored(func(l []envelope.PageList) { l[0].Pages[0].Columns[colX].Pages[0].Locator.Offset = 1 << 40 }), []string{
				`locators: ` + n + `cluster 0, column 0, field "x", page 0 at offset 0x10000000000: corrupt data: 16 bytes from offset 1099511627776 on`}},
		{"page overlaps another",
			stored(func(l []envelope.PageList) { l[0].Pages[0].Columns[colX].Pages[0].Locator.Offset++ }), []string{
				`locators: `, `pages: ` + n + `cluster 0, column 0, field "x", page 0`}},
		{"page in a page list", func(d *draft) {
			d.noSum = true
			d.lists = func(l []envelope.PageList) { l[0].Pages[0].Columns[colX].Pages[0].Locator.Offset = 300 }
		}, []string{`overlap`}},
		{"object locator", stored(func(l []envelope.PageList) {
			p := &l[0].Pages[0].Columns[colX].Pages[0]
			p.Locator.Type, p.Locator.Payload = 2, "0123456789ab"
		}), []string{`object store locator`}},
		{"shared page", stored(func(l []envelope.PageList) {
			l[0].Pages[0].Columns[colO].Pages[0] = l[0].Pages[0].Columns[colV].Pages[0]
		}), []string{`field "o": corrupt data: an item has 2 values, expected at most 1`,
			`column 5, field "o._0": corrupt data: 1 elements, expected 3`}},
		{"epoch", func(d *draft) { d.anchor = func(a *anchor.Anchor) { a.Epoch = 9 } },
			[]string{`anchor: RNTuple "n" at offset`}},
		{"class version", func(d *draft) { d.anchor = func(a *anchor.Anchor) { a.ClassVersion = 3 } },
			[]string{`class version 3 with 0 bytes after those of version 2`}},
		{"anchor of a key that is too small", func(d *draft) { d.anchor = func(a *anchor.Anchor) { a.MaxKeySize = 9 } },
			[]string{
				`header at offset`, `footer at offset`}},

		// Pages and elements.
		{"elements of a page", stored(func(l []envelope.PageList) { l[0].Pages[0].Columns[colX].Pages[0].NumElements = 3 }),
			[]string{
				`pages: ` + n + `cluster 0, column 0, field "x", page 0`,
				`elements: ` + n + `cluster 0, field "x": corrupt data: the column has 3 elements, expected 2`}},
		{"page is missing", stored(func(l []envelope.PageList) { l[0].Pages[0].Columns[colX].Pages = nil }),
			[]string{`field "x": corrupt data: the column has 0 elements, expected 2`}},
		{"page of items is missing", stored(func(l []envelope.PageList) { l[0].Pages[0].Columns[colChar].Pages = nil }),
			[]string{
				`cluster 0, column 3, field "v._0": corrupt data: 0 elements, expected 4`}},
		{"element offset", stored(func(l []envelope.PageList) { l[1].Pages[0].Columns[colX].ElementOffset = 7 }),
			[]string{`begins with the element 7, expected 2`}},
		{"element offset of items", stored(func(l []envelope.PageList) { l[1].Pages[0].Columns[colOItem].ElementOffset = 7 }),
			[]string{
				`cluster 1, column 5, field "o._0": corrupt data: begins with element 7, expected 1`}},
		{"both suppressed", stored(func(l []envelope.PageList) {
			l[0].Pages[0].Columns[colD] = envelope.ColumnPages{ElementOffset: envelope.Suppressed}
		}), []string{`all representations of the column are suppressed`}},
		{"none suppressed", stored(func(l []envelope.PageList) { l[0].Pages[0].Columns[colDOther].ElementOffset = 0 }),
			[]string{`representations 0 and 1 are both active`}},

		// Values.
		{"backwards", func(d *draft) { d.groups[0][0].columns[colV] = col[uint64](0, format(column.Index64), 3, 2) },
			[]string{
				`values: ` + n + `cluster 0, column 1, field "v", page 0 at offset `, `field "n"`}},
		{"beyond the items", func(d *draft) { d.groups[0][0].columns[colV] = col[uint64](0, format(column.Index64), 2, 4) },
			[]string{
				`cluster 0, column 2, field "v._0": corrupt data: 3 elements, expected 4`}},
		{"two values of an optional", func(d *draft) {
			d.groups[0][0].columns[colO] = col[uint64](0, format(column.Index64), 0, 2)
			d.groups[0][0].columns[colOItem] = col[float32](0, format(column.Real32), 1, 2)
			d.groups[1][0].columns[colOItem].offset = 2
		}, []string{`field "o": corrupt data: an item has 2 values, expected at most 1`}},
		{"tag", func(d *draft) { d.page(0, colU).bytes[8] = 3 },
			[]string{`cluster 0, column 6, field "u", page 0 at offset`}},
		{"index of an alternative", func(d *draft) { d.page(0, colU).bytes[0] = 1 },
			[]string{`refers to item 1 of alternative 1, which has 1 items`}},
		{"items of an alternative", func(d *draft) { d.page(0, colU).bytes[8] = 2 }, []string{
			`field "u._0": corrupt data: 1 elements, expected 0`, `field "u._1": corrupt data: 1 elements, expected 2`}},
		{"range", func(d *draft) {
			d.header.Columns[colX].Type = column.UInt32
			d.page(0, colX).bytes[3] = 0x80
		}, []string{`values: ` + n + `cluster 0, column 0, field "x", page 0 at offset`}},

		// Attribute sets.
		{"range of entries", set([2]uint64{0, 3}, [2]uint64{2, 2}), []string{
			`attributes: RNTuple "n@s", cluster 0: corrupt data: attribute 1 belongs to 2 entries from 2 on, but there are 3 entries`}},
		{"range overflows", set([2]uint64{1, 1<<64 - 1}), []string{`attribute 0 belongs to 18446744073709551615 entries`}},
		{"two sets of a name", func(d *draft) { set()(d); set()(d) }, []string{`attribute set "s" at offset`}},
		{"one anchor twice", func(d *draft) {
			set()(d)
			d.links = func(f *envelope.Footer) {
				f.AttributeSets = append(f.AttributeSets, f.AttributeSets[0])
				f.AttributeSets[1].Name = "r"
			}
		}, []string{`attribute set "r" at offset`}},
		{"other name", func(d *draft) {
			set()(d)
			d.links = func(f *envelope.Footer) { f.AttributeSets[0].Name = "r" }
		}, []string{`the name is "s", the link says "r"`, `the anchor is not in a record of its own`}},
		{"schema of a set", func(d *draft) { set()(d); d.sets[0].header.Fields[1].Name = "len" },
			[]string{`top-level field 1 is "len"`}},
		{"version of a set", func(d *draft) {
			set()(d)
			d.links = func(f *envelope.Footer) { f.AttributeSets[0].SchemaMajor = 2 }
		}, []string{`unsupported: schema version 2.0`}},
		{"a set that is a main RNTuple", func(d *draft) { d.sets = append(d.sets, newDraft()) },
			[]string{`7 top-level fields, expected 3`}},
		{"damage in a set", func(d *draft) {
			set([2]uint64{0, 1})(d)
			d.sets[0].groups[0][0].columns[2].pages[0].elements = 2
		}, []string{`pages: RNTuple "n@s", cluster 0, column 2`, `elements: RNTuple "n@s", cluster 0`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := newDraft()
			c.edit(d)
			file := d.file(t)
			lines, _ := check(t, file, nil)
			for _, want := range c.want {
				if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, want) }) {
					t.Errorf("no problem %q", want)
				}
			}
			for _, l := range lines {
				if !slices.ContainsFunc(c.want, func(want string) bool { return strings.Contains(l, want) }) {
					t.Errorf("not expected: %s", l)
				}
			}
			agree(t, file, damage(lines))
		})
	}
}

// agree makes sure that there is a problem if the file cannot be read.
func agree(t testing.TB, file []byte, lines []string) {
	t.Helper()
	if len(lines) > 0 {
		return
	}
	if err := readAll(file); err != nil {
		t.Errorf("no problem, but reading fails: %v", err)
	}
}

// readAll reads all RNTuples of a file.
func readAll(file []byte) error {
	infos, err := rntuple.List(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	if len(infos) == 0 {
		return rntuple.ErrNotFound
	}
	var text []byte
	for _, info := range infos {
		r, err := rntuple.NewReader(bytes.NewReader(file), int64(len(file)), info.Path,
			&rntuple.ReadOptions{Workers: 1, ReadAhead: -1})
		if err != nil {
			return err
		}
		v, err := rntuple.RecordsOf(r)
		if err != nil {
			return err
		}
		for _, record := range v.All() {
			text = value.AppendJSON(text[:0], record)
		}
		if err := v.Err(); err != nil {
			return err
		}
	}
	return nil
}

func TestNoRNTuple(t *testing.T) {
	for name, file := range map[string][]byte{"empty": nil, "text": []byte("hello, world"), "zeros": make([]byte, 1000),
		"short": []byte("root")} {
		if lines, s := check(t, file, nil); len(lines) != 1 || s.RNTuples != 0 {
			t.Errorf("%s: %q", name, lines)
		}
	}
	if _, err := verify.File(context.Background(), "missing.root", nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := verify.File(context.Background(), ".", nil, nil); err == nil {
		t.Errorf("directory: no error")
	}
}

// An error of the callback, or a done context, ends the check.
func TestStop(t *testing.T) {
	d := newDraft()
	d.lists = func(l []envelope.PageList) { l[0].HeaderChecksum, l[1].HeaderChecksum = 0, 0 }
	file := d.file(t)
	stop := errors.New("enough")
	n := 0
	_, err := verify.ReaderAt(context.Background(), bytes.NewReader(file), int64(len(file)),
		func(verify.Problem) error { n++; return stop }, nil)
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("%v after %d problems", err, n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = verify.ReaderAt(ctx, bytes.NewReader(file), int64(len(file)),
		func(verify.Problem) error { t.Error("a problem"); return nil }, nil)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, opt := range []*verify.Options{{Workers: -1}, {MaxProblems: -1}, {Limits: rntuple.Limits{PageBytes: -1}}} {
		if _, err := verify.ReaderAt(context.Background(), bytes.NewReader(file), int64(len(file)), nil, opt); err == nil {
			t.Error("a wrong option is taken")
		}
	}
}

// Many problems of a kind are counted, and reported in the same order by any
// number of workers.
func TestLimit(t *testing.T) {
	file, err := os.ReadFile("../../testdata/good/types_none_one.root")
	if err != nil {
		t.Fatal(err)
	}
	clean, _ := check(t, file, nil)
	for at := len(file) / 2; at < len(file)*3/4; at += 100 { // amid the pages
		file[at] ^= 1
	}
	few, s := check(t, file, &verify.Options{MaxProblems: 3, Workers: 1})
	many, all := check(t, file, &verify.Options{MaxProblems: 1 << 20, Workers: 4})
	if len(clean) > 0 || s.Problems != all.Problems || int64(len(many)) != all.Problems || len(many) < 50 {
		t.Errorf("%d lines for %d problems, %d for %d", len(few), s.Problems, len(many), all.Problems)
	}
	again, _ := check(t, file, &verify.Options{MaxProblems: 1 << 20, Workers: 1})
	if !slices.Equal(many, again) {
		t.Error("the order differs")
	}
	if more := fmt.Sprintf("pages: corrupt data: %d more problems of this kind",
		all.Problems-3); !strings.HasSuffix(few[len(few)-1], more) {
		t.Errorf("the last line is %q, want %q", few[len(few)-1], more)
	}
}
