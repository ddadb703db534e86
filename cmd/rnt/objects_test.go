package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
)

// TestObjects has commands read an RNTuple in objects as the one in a file, and has those refuse it
// that need a file or would write.
func TestObjects(t *testing.T) {
	b, byHTTP, _ := newBucket(t)
	file, url := special+"multirep.root", "ntpl+s3+"+byHTTP+"n"
	remotetest.TakeApart(t, file, "multi").Put(t, "/bucket/n", func(name string, data []byte) { b.objects[name] = data })
	for _, command := range []string{
		"head IN", "head -3 IN multi", "tail -3 IN", "cat IN", "schema IN", "schema --json IN",
		"attrs IN", "draw IN i32 --json",
		"diff IN LOCAL", "diff LOCAL IN", "skim --where i32>0 OUT IN", "slim --fields str,vec OUT IN", "merge OUT IN IN",
		"repack OUT IN", "convert IN OUT --to jsonl",
	} {
		run := func(in string) string {
			out := filepath.Join(t.TempDir(), "out.root")
			args := clitest.Arguments(command, "IN", in, "OUT", out, "LOCAL", file)
			stdout, stderr, status := try(args...)
			if status != exitOK {
				t.Errorf("rnt %s: status %d, %s", strings.Join(args, " "), status, stderr)
			}
			if strings.Contains(command, "OUT IN") {
				stdout += rnt(t, "cat", out)
				if s := rnt(t, "verify", out); !strings.Contains(s, ": ok: ") {
					t.Error(s)
				}
			}
			return strings.ReplaceAll(stdout, in, "IN")
		}
		if got, want := run(url), run(file); got != want {
			t.Errorf("rnt %s: of objects\n%s\nof the file\n%s", command, got, want)
		}
	}

	var listed []struct {
		Path    string
		Entries int64
		Fields  int
	}
	if err := json.Unmarshal([]byte(rnt(t, "ls", "--json", url)), &listed); err != nil || len(listed) != 1 ||
		listed[0].Path != "multi" || listed[0].Entries != 40 || listed[0].Fields != 14 {
		t.Errorf("ls: %+v, %v", listed, err)
	}
	// The page lists have other sizes than those of the file.
	line := func(text, start string) string {
		for l := range strings.Lines(text) {
			if strings.HasPrefix(l, start) {
				return l
			}
		}
		return ""
	}
	stat, local := rnt(t, "stat", url), rnt(t, "stat", file)
	for _, start := range []string{"RNTuple", "compression", "header", "pages ", "vec_inner", "str "} {
		if got := line(stat, start); got == "" ||
			strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(line(local, start)), " ") {
			t.Errorf("stat has %q, want %q", got, line(local, start))
		}
	}
	if svg := rnt(t, "stat", "--map", "-", url); !strings.Contains(svg, "multi in n") {
		t.Error(svg)
	}
	compare(t, rnt(t, "verify", url), url+": ok: 1 RNTuple, 4 envelopes, 7 clusters, 162 pages, 8.09 kB checked; not checked: the file around the RNTuple: it is in objects\n")
	if _, stderr, status := try("cat", "--stats", url); status != exitOK ||
		!strings.HasPrefix(stderr, "1 file, 156 requests") {
		t.Errorf("--stats: %d, %s", status, stderr)
	}

	const notFile = "the URL is of an RNTuple in objects"
	out := filepath.Join(t.TempDir(), "out.root")
	for command, want := range map[string]string{
		"dump IN": notFile, "recover OUT IN": notFile, "tail -F IN": "cannot follow",
		"index IN": "unsupported operation", "append IN LOCAL": "unsupported operation",
		"merge INx LOCAL": "not written by the protocol", "convert LOCAL INx --to rntuple": "not written by the protocol",
		"head IN other": "not found; the URL has multi",
		"head INx":      "file does not exist", "verify INx": "file does not exist", "ls INx": "file does not exist",
	} {
		stdout, stderr, status := try(clitest.Arguments(command, "IN", url, "OUT", out, "LOCAL", file)...)
		if status == exitOK || !strings.Contains(stdout+stderr, want) {
			t.Errorf("rnt %s: status %d, %s%s, want %q", command, status, stdout, stderr, want)
		}
	}
}
