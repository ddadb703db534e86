//go:build cgo

package main

import (
	"cmp"
	"context"
	"debug/elf"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// library returns the path of the built library, and skips the test without one: building it takes a C compiler and
// half a minute.
func library(t *testing.T) string {
	t.Helper()
	path := os.Getenv("RNTUPLE_LIBRARY")
	if path == "" {
		t.Skip("RNTUPLE_LIBRARY does not name the built library")
	}
	return path
}

// command runs a program, which ends within an hour, and returns its output.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, args, err, out[max(0, len(out)-5000):])
	}
	return string(out)
}

// compiled returns a program, compiled from a file in C or C++.
func compiled(t *testing.T, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	compiler, standard := cmp.Or(os.Getenv("CC"), "cc"), "-std=gnu11"
	if strings.HasSuffix(source, ".cpp") {
		compiler, standard = cmp.Or(os.Getenv("CXX"), "c++"), "-std=c++17"
	}
	args := append([]string{standard, "-Wall", "-Wextra", "-Werror", "-g", "-I.", "-o", program, source}, flags...)
	command(t, compiler, args...)
	return program
}

// TestSymbols compares what the library exports with the functions of the header, and bounds its size.
func TestSymbols(t *testing.T) {
	path := library(t)
	header, err := os.ReadFile("rntuple.h")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, m := range regexp.MustCompile(`(?m)^RNTUPLE_API .*?(rntuple_\w+)\(`).FindAllSubmatch(header, -1) {
		want = append(want, string(m[1]))
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Skip(err) // another system's
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_BIND(s.Info) == elf.STB_GLOBAL {
			got = append(got, s.Name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("exported:\n%s\nwant\n%s", got, want)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 20e6 {
		t.Errorf("the library has %d bytes, more than 20 MB (%v)", info.Size(), err)
	}
}

// TestLibrary runs the cases of testdata/check.c, each in a process. AddressSanitizer tells what C memory stays;
// valgrind takes the stacks of goroutines for errors.
func TestLibrary(t *testing.T) {
	path := library(t)
	data, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	var flags []string
	if runtime.GOOS == "linux" {
		flags = []string{"-fsanitize=address"}
	}
	check := compiled(t, "testdata/check.c", append(flags, "-ldl", "-lm", "-lpthread")...)
	cases := [][]string{{"arguments"}, {"read"}, {"query"}, {"arrays"}, {"threads"}, {"write"}, {"cancel"}, {"run"}, {"fork"},
		{"signals"}, {"damage"}, {"many"}, {"random", cmp.Or(os.Getenv("RNTUPLE_SEED"), "0"), cmp.Or(os.Getenv("RNTUPLE_PROGRAMS"), "50")}}
	for _, c := range cases {
		t.Run(c[0], func(t *testing.T) {
			folder := t.TempDir()
			files := http.FileServer(http.Dir(data))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := os.Stat(filepath.Join(folder, "slow")); err == nil {
					<-r.Context().Done()
					return
				}
				files.ServeHTTP(w, r)
			}))
			defer server.Close()
			command(t, check, append([]string{path, data, folder, server.URL}, c...)...)
		})
	}
}

// TestExamples compiles and runs the examples, which print the numbers that uproot has.
func TestExamples(t *testing.T) {
	path := library(t)
	check := func(t *testing.T, program string) {
		if got := command(t, program, "../../testdata/dimuon.root"); got != "13849 entries, sum 19886297792\n" {
			t.Error(got)
		}
	}
	for _, source := range []string{"examples/c/sum.c", "examples/cpp/sum.cpp"} {
		t.Run(source, func(t *testing.T) { check(t, compiled(t, source, path)) })
	}
	t.Run("examples/rust", func(t *testing.T) {
		if _, err := exec.LookPath("cargo"); err != nil {
			t.Skip(err)
		}
		const manifest = "--manifest-path=examples/rust/Cargo.toml"
		if out, err := exec.Command("cargo", "fetch", "--locked", manifest).CombinedOutput(); err != nil {
			t.Skipf("the packages cannot be had: %v\n%s", err, out)
		}
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip(err)
		}
		folder := filepath.Join(cache, "go-rntuple", "rust")
		command(t, "cargo", "rustc", "--locked", manifest, "--target-dir="+folder, "--", "-L", "native="+filepath.Dir(path))
		t.Setenv("LD_LIBRARY_PATH", filepath.Dir(path))
		check(t, filepath.Join(folder, "debug", "sum"))
	})
}
