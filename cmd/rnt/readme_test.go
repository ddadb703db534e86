package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs the commands that the README shows, and expects what it prints.
// The README must name every command.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	sample, err := os.ReadFile(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.FromSlash("testdata/dimuon.root"), sample, 0o644); err != nil {
		t.Fatal(err)
	}

	t.Setenv("LC_ALL", "C.UTF-8")
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(readme, -1) {
		for _, shown := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			line, want, _ := strings.Cut(shown, "\n")
			command, ok := strings.CutPrefix(line, "rnt ")
			if !ok {
				continue
			}
			ran++
			stdout, stderr, status := try(words(command)...)
			if got := stdout + stderr; status != exitOK || strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("rnt %s: status %d, prints\n%s\nwant\n%s", command, status, got, want)
			}
		}
	}
	if ran < 3 {
		t.Errorf("the README shows only %d commands", ran)
	}

	for _, c := range regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(rnt(t, "help"), -1) {
		if name := c[1]; name != "rnt" && name != "version" && !strings.Contains(readme, "rnt "+name) {
			t.Errorf("the README does not name rnt %s", name)
		}
	}
}

// words splits a command into words, some of which are in single quotes.
func words(command string) (all []string) {
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(command, -1) {
		all = append(all, strings.Trim(w, "'"))
	}
	return all
}
