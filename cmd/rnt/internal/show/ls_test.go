package show

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/envelope"
)

const class = "ROOT::RNTuple"

func zstd(l listing) listing {
	l.Class, l.Compression, l.Settings = class, []string{"zstd 5"}, []uint32{505}
	return l
}

func TestLs(t *testing.T) {
	clitest.Compare(t, tool.RNT(t, "ls", dimuon), ""+
		"NAME    ENTRIES  FIELDS     SIZE  COMPRESSION\n"+
		"Events   80,000      13  1.31 MB  zstd 5\n")

	got := clitest.JSON[[]listing](t, tool, "ls", "--json", dimuon)
	// Pages, 120 checksums, header, footer and page lists, as ROOT has them.
	want := []listing{zstd(listing{File: dimuon, Path: "Events", Format: "1.0.2.0", Entries: 80000, Fields: 13,
		Disk: 1309527 + 120*8 + 562 + 1023})}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestLsShared(t *testing.T) {
	for name, want := range map[string]listing{
		"cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root": {Path: "Events", Format: "1.0.0.1",
			Entries: 10, Fields: 969},
		"test_int_multicluster_rntuple_v1-0-0-0.root": {Path: "ntuple", Format: "1.0.0.0",
			Entries: 100000000, Fields: 1},
		"ntpl001_staff_rntuple_v1-0-1-0.root": {Path: "Staff", Format: "1.0.1.0",
			Entries: 3354, Fields: 11},
	} {
		got := clitest.JSON[[]listing](t, tool, "ls", "--json", clitest.Shared(t, shared, name))
		want.File = clitest.Shared(t, shared, name)
		for i := range got {
			got[i].Disk = 0
		}
		if !reflect.DeepEqual(got, []listing{zstd(want)}) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestLsDirectories(t *testing.T) {
	clitest.Compare(t, tool.RNT(t, "ls", special+"dirs.root"), `NAME            ENTRIES  FIELDS     SIZE  COMPRESSION
top                   9       3  1.19 kB  lz4 4
top;1                 5       3    756 B  zstd 5       older cycle
dir/sub/ntuple        7       3    923 B  zlib 1
dir/other             3       3  1.01 kB  none
dir/top               2       3    501 B  zstd 5
`)
}

func TestLsAttributeSets(t *testing.T) {
	got := clitest.JSON[[]listing](t, tool, "ls", "--json", special+"attributes.root")
	if len(got) != 1 || !reflect.DeepEqual(got[0].AttributeSets, []attributeSet{{"first", "1.0"}, {"second", "1.0"}}) {
		t.Errorf("got %+v", got)
	}
	out := tool.RNT(t, "ls", special+"attributes.root")
	if lines := strings.Split(out, "\n"); len(lines) != 5 || !strings.HasPrefix(lines[2], "  first ") ||
		!strings.HasSuffix(lines[2], "  attribute set, schema 1.0") {
		t.Errorf("got\n%s", out)
	}
}

// What cannot be read is listed with the reason; the others are listed as ever.
func TestLsUnreadable(t *testing.T) {
	e := clitest.NewEditor(t, dimuon)
	broken := e.Key
	broken.Name, broken.SeekKey = "broken", 1<<30
	path := e.Write(
		e.Object(anchor.ExperimentalClassName, "old", []byte("not looked at")),
		e.Object(class, "short", []byte("not an anchor")),
		broken,
		e.NTuple("future", func(h *envelope.Header) { h.Features = envelope.Features{1 << 5} }),
		e.Key,
		e.Object("TNamed", "other", nil),
	)
	out, _ := tool.Fed(t, cli.ExitSkipped, "", "ls", path)
	for _, want := range []string{
		"\nold           -       -        -  -            cannot be read: anchor.class version at offset 0x4: unsupported: pre-release format",
		"\nshort         -       -        -  -            cannot be read: ",
		"\nbroken        -       -        -  -            cannot be read: ",
		"\nfuture        -       -        -  -            cannot be read: unsupported: unknown feature flag 5",
		"\nEvents   80,000      13  1.31 MB  zstd 5\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("got\n%s\nwant%s", out, want)
		}
	}
	asJSON, _ := tool.Fed(t, cli.ExitSkipped, "", "ls", "--json", path)
	var got []listing
	if err := json.Unmarshal([]byte(asJSON), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 5 || got[0].Class != anchor.ExperimentalClassName || got[4].Error != "" || got[4].Entries != 80000 {
		t.Errorf("got %+v", got)
	}
	for _, l := range got[:4] {
		if l.Error == "" {
			t.Errorf("got %+v", l)
		}
	}
	if _, stderr, status := tool.Try("cat", path); status != cli.ExitError ||
		!strings.HasSuffix(stderr, "the file has several RNTuples, name one of them: old, short, broken, future, Events\n") {
		t.Errorf("cat: status %d, %s", status, stderr)
	}
}

func TestLsEmpty(t *testing.T) {
	path := clitest.NewEditor(t, dimuon).Write()
	stdout, stderr, status := tool.Try("ls", path)
	if status != cli.ExitOK || stdout != "" || stderr != "rnt: "+path+": the file holds no RNTuple\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	clitest.Compare(t, tool.RNT(t, "ls", "--json", path), "[]\n")
}
