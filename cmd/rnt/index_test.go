package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/zonemap"
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
	w, err := rntuple.Create[event](in, "events")
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
	if !strings.Contains(text, "50 of 1,000 entries") || !strings.HasSuffix(text, "\nzone maps: 9 of 10 clusters passed over\n") {
		t.Error(text)
	}
	for _, c := range []struct {
		flag          string
		zoned, passed int64
	}{{"", 10, 9}, {" --no-zones", 0, 0}} {
		args := strings.Fields("skim --force --json" + c.flag)
		got := decode[skimJSON](t, append(args, "--where", "any(Pt, # >= 200 and # < 300)", out, in)...)
		if got.Entries != 100 || got.Zoned != c.zoned || got.Passed != c.passed {
			t.Errorf("%q: %+v, want %d of %d clusters passed over", c.flag, got, c.passed, c.zoned)
		}
	}
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer s.Close()
	for flag, passed := range map[string]int64{"": 0, " --zones": 9} {
		args := strings.Fields("skim --force --json" + flag)
		got := decode[skimJSON](t, append(args, "--where", "Run == 7", out, s.URL+"/in.root")...)
		if got.Entries != 50 || got.Passed != passed {
			t.Errorf("at a URL, %q: %+v, want %d clusters passed over", flag, got, passed)
		}
	}
	if text := rnt(t, "stat", s.URL+"/in.root"); !strings.Contains(text, "\nzone map: bounds of 3 fields in 10 clusters\n") {
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
	if got := decode[stat](t, "stat", "--json", in); fmt.Sprint(got.Zones) != "[{Run 10}]" {
		t.Error(got)
	}
	compare(t, rnt(t, "index", "--json", "--drop", "Run", in, "events"), "{\n  \"fields\": [\n    \"Pt\",\n    \"Pt._0\"\n  ],\n  \"clusters\": 10\n}\n")
	compare(t, rnt(t, "index", "--remove", in), "")
	without()
	for _, text := range []string{"index", "index --fields nope IN", "index --fields S IN", "index --remove --fields Run IN", "index IN nope", "index --drop Run IN events x"} {
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
