package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestConsole runs the commands that documents show, and expects what they print there. The
// commands of a document share a folder with testdata/dimuon.root.
func TestConsole(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("skipped: there is no shell")
	}
	sample, err := os.ReadFile(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	for page, most := range map[string]int{"README.md": 5, "docs/guides/tool.md": 1, "docs/guides/recipes.md": 20} {
		t.Run(page, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, content string, mode os.FileMode) {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), mode); err != nil {
					t.Fatal(err)
				}
			}
			write("testdata/dimuon.root", string(sample), 0o644)
			write("bin/rnt", "#!/bin/sh\nRNT_TEST_AS_TOOL=1 exec \"$RNT\" \"$@\"\n", 0o755)
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			ran := 0
			for _, shown := range console(t, page) {
				line, want, _ := strings.Cut(shown, "\n")
				if strings.Contains(line, "go install") {
					continue
				}
				ran++
				cmd := exec.Command(shell, "-c", line)
				cmd.Dir = dir
				bin := filepath.Join(dir, "bin") + string(filepath.ListSeparator)
				cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "RNT="+self, "PATH="+bin+os.Getenv("PATH"))
				got, err := cmd.CombinedOutput()
				if err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
					t.Errorf("%s\n%v, prints\n%s\nwant\n%s", line, err, got, want)
				}
			}
			if ran < most {
				t.Errorf("the page shows only %d commands", ran)
			}
		})
	}
}

// console returns the commands that a page shows, each with what it prints.
func console(t *testing.T, page string) (all []string) {
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(document(t, page), -1) {
		all = append(all, strings.Split("\n"+block[1], "\n$ ")[1:]...)
	}
	return all
}

func document(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// TestCommandsNamed makes sure that the guide to the tool names every command.
func TestCommandsNamed(t *testing.T) {
	guide := document(t, "docs/guides/tool.md")
	for _, c := range regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(rnt(t, "help"), -1) {
		if name := c[1]; name != "rnt" && name != "version" && !strings.Contains(guide, fmt.Sprintf("`rnt %s", name)) {
			t.Errorf("the guide does not name rnt %s", name)
		}
	}
}
