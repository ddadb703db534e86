package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLists has commands take the names of files from text files, and from one at a URL.
func TestLists(t *testing.T) {
	in, err := filepath.Abs(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(in))))
	defer s.Close()
	t.Chdir(t.TempDir())
	two := "\ufeff# a file here and one elsewhere\r\n\n  " + in + "\t\r\n" + s.URL + "/" + filepath.Base(in)
	lists := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(two)) }))
	defer lists.Close()
	for name, text := range map[string]string{"two": two, "none": "# nothing\n\n", "binary": "a\x00b",
		"latin": "caf\xe9.root", "absent": "no.root\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	three := rnt(t, "ls", in, in, in)
	for _, args := range [][]string{{in, "@two"}, {"@two", in}, {"@" + lists.URL + "/list", in}} {
		if got := rnt(t, append([]string{"ls"}, args...)...); strings.Count(got, "\n") != strings.Count(three, "\n") {
			t.Errorf("ls %v:\n%s\nwant\n%s", args, got, three)
		}
	}
	rnt(t, "merge", "-q", "want.root", in, in)
	rnt(t, "merge", "-q", "got.root", "@two")
	rnt(t, "diff", "got.root", "want.root")
	for list, want := range map[string]string{
		"@none": "none: lists no files", "@binary": "binary: line 1: not the name of a file",
		"@latin":  "latin: line 1: not the name of a file",
		"@absent": "no.root", "@two-": "two-", "@": "no such file",
	} {
		if _, stderr, status := try("merge", "out.root", list); status != exitError || !strings.Contains(stderr, want) {
			t.Errorf("merge %s: %d, %s, want %q", list, status, stderr, want)
		}
	}
}
