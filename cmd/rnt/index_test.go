package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// TestIndexCommand makes a zone map, skims with it and without it, and removes it.
func TestIndexCommand(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.root"), filepath.Join(dir, "out.root")
	type event struct {
		Run int32
		Pt  []float32
		S   string
	}
	w, err := rntuple.Create[event](in, "events", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(1000) {
		if i%100 == 0 {
			w.CommitCluster()
		}
		w.Write(&event{i / 50, []float32{float32(i)}, "x"})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	without := func() {
		t.Helper()
		text := rnt(t, "skim", "--force", "--where", "Run == 7", out, in)
		if strings.Contains(text, "zone map") || !strings.Contains(text, "50 of 1,000 entries") {
			t.Error(text)
		}
		if text := rnt(t, "stat", in); strings.Contains(text, "zone map") {
			t.Error(text)
		}
	}
	without()
	compare(t, rnt(t, "index", in), "in.root: bounds of 3 fields in 10 clusters\n")
	if text := rnt(t, "stat", in); !strings.Contains(text, "\nzone map: bounds of 3 fields in 10 clusters\n") {
		t.Error(text)
	}
	if text := rnt(t, "attrs", in); !strings.Contains(text, zonemap.SetName) {
		t.Error(text)
	}
	text := rnt(t, "skim", "--force", "--where", "Run == 7", out, in)
	if !strings.Contains(text, "50 of 1,000 entries") ||
		!strings.HasSuffix(text, "\nzone maps: skipped 9 of 10 clusters\n") {
		t.Error(text)
	}
	for _, c := range []struct {
		flag          string
		zoned, passed int64
	}{{"", 10, 9}, {" --no-zones", 0, 0}} {
		args := strings.Fields("skim --force --json" + c.flag)
		got := decode[report](t, append(args, "--where", "any(Pt, # >= 200 and # < 300)", out, in)...)
		if got.Entries != 100 || got.Zoned != c.zoned || got.Passed != c.passed {
			t.Errorf("%q: %+v, want %d of %d clusters passed over", c.flag, got, c.passed, c.zoned)
		}
	}
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer s.Close()
	for flag, passed := range map[string]int64{"": 0, " --zones": 9} {
		args := strings.Fields("skim --force --json" + flag)
		got := decode[report](t, append(args, "--where", "Run == 7", out, s.URL+"/in.root")...)
		if got.Entries != 50 || got.Passed != passed {
			t.Errorf("at a URL, %q: %+v, want %d clusters passed over", flag, got, passed)
		}
	}
	if text := rnt(t, "stat", s.URL+"/in.root"); !strings.Contains(text,
		"\nzone map: bounds of 3 fields in 10 clusters\n") {
		t.Error(text)
	}
	rnt(t, "skim", "--force", "--quiet", "--where", "Run == 7", out, in)
	if text := rnt(t, "stat", out); !strings.Contains(text, "\nzone map: bounds of 3 fields in 1 cluster\n") { // kept up
		t.Error(text)
	}
	if text := rnt(t, "verify", in, out); strings.Count(text, ": ok: ") != 2 {
		t.Error(text)
	}
	compare(t, rnt(t, "index", "--fields", "R*", "--quiet", in), "")
	if got := decode[struct {
		Zones []struct {
			Field    string
			Clusters int
		} `json:"zone_map"`
	}](t, "stat", "--json", in); fmt.Sprint(got.Zones) != "[{Run 10}]" {
		t.Error(got)
	}
	compare(t, rnt(t, "index", "--json", "--drop", "Run", in, "events"),
		"{\n  \"fields\": [\n    \"Pt\",\n    \"Pt._0\"\n  ],\n  \"clusters\": 10\n}\n")
	compare(t, rnt(t, "index", "--remove", in), "")
	without()
	for _, text := range []string{"index", "index --fields nope IN", "index --fields S IN",
		"index --remove --fields Run IN", "index IN nope", "index --drop Run IN events x"} {
		status := exitError
		if text == "index" || strings.Contains(text, "remove") || strings.Contains(text, " x") {
			status = exitUsage
		}
		args := strings.Fields(text)
		for i, arg := range args {
			args[i] = strings.Replace(arg, "IN", in, 1)
		}
		fed(t, status, "", args...)
	}
}

// TestLyingZones has a file of which a value was changed in its place, so that its zone map is
// wrong. Commands do not use the map at a URL, unless --zones says so; of a local file they do.
func TestLyingZones(t *testing.T) {
	const was, is = 0x1122334455667788, 0x1122334455667799
	dir := t.TempDir()
	in, out, plan := filepath.Join(dir, "in.root"), filepath.Join(dir, "out"), filepath.Join(dir, "plan.json")
	type event struct{ N int64 }
	w, err := rntuple.Create[event](in, "events",
		&rntuple.WriteOptions{ZoneMap: []string{"*"}, Compression: compress.None, NoChecksums: true})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(&event{5})
	w.Write(&event{was})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	value := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	if err := os.WriteFile(in, bytes.Replace(b, value(was), value(is), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if lines, _ := fed(t, exitError, "", "verify", in); !strings.Contains(lines, "the bounds are") {
		t.Fatal(lines)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer s.Close()
	where := fmt.Sprintf("N == %d", is)
	found := func(text string) bool { return strings.Contains(text, fmt.Sprint(is)) }
	for _, c := range []struct {
		args string
		read func(stdout string) bool // reports whether the entry was found
	}{
		{"cat FILE", found},
		{"head FILE", found},
		{"convert FILE - --to csv", found},
		{"draw FILE N --json --range 0:2e18", func(s string) bool { return strings.Contains(s, `"entries": 1,`) }},
		{"skim OUT.root FILE --force", func(string) bool { return found(rnt(t, "cat", out+".root")) }},
		{"convert FILE OUT.root --force", func(string) bool { return found(rnt(t, "cat", out+".root")) }},
		{"skim --unit 0 OUT PLAN --force", func(string) bool {
			made, err := filepath.Glob(filepath.Join(out, "*.root"))
			return err == nil && len(made) == 1 && found(rnt(t, "cat", made[0]))
		}},
	} {
		for _, far := range []struct {
			file, flags string
			want        bool
		}{{in, "", false}, {in, "--no-zones", true}, {s.URL + "/in.root", "", true}, {s.URL + "/in.root", "--zones", false}} {
			if strings.Contains(c.args, "PLAN") {
				rnt(t, "plan", "--force", "-q", plan, far.file)
			}
			args := strings.Fields(c.args + " --quiet " + far.flags)
			for i, arg := range args {
				args[i] = strings.NewReplacer("FILE", far.file, "OUT", out, "PLAN", plan).Replace(arg)
			}
			if got := c.read(rnt(t, append(args, "--where", where)...)); got != far.want {
				t.Errorf("%s of %s %s: the entry is found: %v, want %v", c.args, far.file, far.flags, got, far.want)
			}
		}
	}
}
