package show

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/internal/show/dump"
)

func TestDump(t *testing.T) {
	zero := special + "zero.root"
	for args, want := range map[string][]string{
		"": {"\nanchor of RNTuple", "\nheader of RNTuple", "\nfooter of RNTuple",
			"\npage list of cluster group 0"},
		" zero --anchor": {"\nanchor of RNTuple \"zero\", class ROOT::RNTuple\n  at 0x560, 78 bytes\n"},
		" --header":      {"\nheader of RNTuple \"zero\"\n  at 0x118, 268 bytes, compressed; 638 bytes uncompressed\n"},
		" --page-list 0": {"\npage list of cluster group 0 of RNTuple"},
		" --container": {"file header\n  at 0x0, 100 bytes\n",
			"\nlist of keys of the top directory\n", "\nstreamer infos\n"},
		" --at 0x561": {"key of ROOT::RNTuple \"zero\"\n", "\nanchor of RNTuple"},
		" --at 5":     {"file header\n"},
		" --page 0/0/0": {"page 0 of column 0 in cluster 0 of RNTuple \"zero\": field \"i\", SplitInt32, ",
			"  element 0        -2147483648 "},
		" --footer --anchor": {"\nanchor of", "\nfooter of"},
	} {
		out := tool.RNT(t, append([]string{"dump"}, strings.Fields(zero+args)...)...)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("dump%s: no %q in\n%.2000s", args, w, out)
			}
		}
		plain := strings.Count(out, "\n\n")
		records := 0
		for d := json.NewDecoder(strings.NewReader(tool.RNT(t,
			append([]string{"dump", "--json"}, strings.Fields(zero+args)...)...))); d.More(); records++ {
			var r dump.Record
			if err := d.Decode(&r); err != nil || len(r.Lines) == 0 {
				t.Errorf("dump%s: %v, %d lines", args, err, len(r.Lines))
			}
		}
		if records != plain || records == 0 {
			t.Errorf("dump%s: %d records as JSON, %d as text", args, records, plain)
		}
	}
	for args, want := range map[string]string{
		"dump":                               "rnt: missing argument FILE",
		"dump " + zero + " --page 1/2":       "rnt: --page: want COLUMN/CLUSTER/PAGE, such as 12/0/3",
		"dump " + zero + " --page x/2/3":     "rnt: --page: want COLUMN/CLUSTER/PAGE, such as 12/0/3",
		"dump " + zero + " --at here":        "rnt: --at: want an offset, such as 1234 or 0x4d2",
		"dump " + zero + " --at 99999":       "rnt: " + zero + ": offset 0x1869f lies beyond the end of the file, 0x7e0",
		"dump " + zero + " --page-list 9":    "rnt: " + zero + ": RNTuple \"zero\" has 1 cluster groups, no group 9",
		"dump " + special + "dirs.root nope": "rnt: " + special + "dirs.root: ",
	} {
		if _, stderr, status := tool.Try(strings.Fields(args)...); status == cli.ExitOK || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: status %d, %q, want %q", args, status, stderr, want)
		}
	}
}

// A damaged record is shown up to the damage.
func TestDumpDamaged(t *testing.T) {
	b, err := os.ReadFile(special + "zero.root")
	if err != nil {
		t.Fatal(err)
	}
	b[0x560+3]++ // the byte count of the anchor
	path := filepath.Join(t.TempDir(), "bad.root")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := tool.Try("dump", path, "--anchor")
	for _, want := range []string{
		"  00000560 +0000  40 00 00 43              byte count = 1073741891  (67 bytes follow)\n  ERROR: byte count at offset 0x0: ",
		"  not read, 74 bytes\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if status != cli.ExitError || !strings.HasPrefix(stderr, "rnt: ") {
		t.Errorf("status %d, %q", status, stderr)
	}
}
