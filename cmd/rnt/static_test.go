package main

import (
	"debug/elf"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestStatic makes sure that the program that RNTUPLE_STATIC names needs neither a loader nor a
// library of the system, nor templates, and that every command that installs it is one that makes
// such a program.
func TestStatic(t *testing.T) {
	install := regexp.MustCompile(`(.*)go install \S*/cmd/rnt@(latest|v)`)
	found := 0
	for _, name := range []string{"README.md", "docs/guides/tool.md", "bridge/python/README.md",
		"docs/notes/releasing.md"} {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range install.FindAllStringSubmatch(string(text), -1) {
			found++
			if !strings.HasSuffix(m[1], "CGO_ENABLED=0 ") {
				t.Errorf("%s: with cgo: %s", name, m[0])
			}
		}
	}
	if found < 4 {
		t.Errorf("%d commands install the program", found)
	}

	path := os.Getenv("RNTUPLE_STATIC")
	if path == "" {
		t.Skip("skipped without RNTUPLE_STATIC=PROGRAM: the stage static_tool builds it")
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == "text/template.(*Template).Execute" {
			t.Error("the program can execute templates, for which the linker keeps all methods of all types")
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program has a segment %v", p.Type)
		}
	}
}
