package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// errNoNode reports that there is no program that could run jsroot.
var errNoNode = errors.New("node and npm are not installed")

// jsroot installs the version of jsroot in package.json, and returns the folder of
// modules.
var jsroot = sync.OnceValues(func() (string, error) {
	_, err1 := exec.LookPath("node")
	_, err2 := exec.LookPath("npm")
	if err1 != nil || err2 != nil {
		return "", errNoNode
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "go-rntuple", "jsroot")
	wanted, err := os.ReadFile("package.json")
	if err != nil {
		return "", err
	}
	modules, done := filepath.Join(dir, "node_modules"), filepath.Join(dir, "done")
	if have, err := os.ReadFile(done); err == nil && bytes.Equal(have, wanted) {
		return modules, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), wanted, 0o666); err != nil {
		return "", err
	}
	install := exec.Command("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
		"--no-package-lock", "--loglevel=error")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install: %w\n%s", err, out)
	}
	return modules, os.WriteFile(done, wanted, 0o666)
})

// A readerFault is a known fault of another reader.
type readerFault struct {
	what   string
	fields *regexp.Regexp // names of top-level fields
}

func fault(what string, fields ...string) readerFault {
	return readerFault{what, regexp.MustCompile("^(" + strings.Join(fields, "|") + ")$")}
}

// jsrootFaults are those of the pinned version, with ROOT's files as with those of
// this library.
var jsrootFaults = []readerFault{
	fault("quantized values of 31 and 32 bits: it shifts numbers of 32 bits with a sign", `.*Real32Quant3[12]`),
	fault("RVec", `rvec_.*`, "spelled_RVec"),
	fault("optional and unique_ptr: it gives the offsets", `(vec_)?(opt|uptr)_.*`, "var_nested"),
	fault("enums", `E[IU]\d+`, "EUnscoped(Fixed)?", "ENegative", "geo_Colour", "geo_Line", "vec_EI16",
		"WithEnum(_Inner)?", "(vec_)?CArrays"),
	fault("classes without members", "Empty", "vec_Empty", "OfEmpty", "HasEmpty"),
	fault("a class with optional, RVec and others of the above", "Mixed"),
	fault("untyped records and collections", "untyped_.*"),
	fault("projected fields", "proj_.*", "card.*"),
}

// jsrootPageFaults are further ones with files of several pages and clusters.
var jsrootPageFaults = []readerFault{
	fault("bits at the end of a page: elements of less than 8 bits, or of an odd number of them, get the rest of its last byte",
		".*bool.*", `.*Real32(Trunc|Quant)\d+`, ".*bitset.*", "Spell"),
	fault("offsets below the top level do not begin again with a cluster",
		"(vec|array|set|uset|mset|umset)_(string|string_2|Simple|Simple_2|Derived|vec_.*|set_char|var|pair|map)",
		"(pair|tuple)_(string_vec|Simple_tuple|3|nested)",
		"var_(string_Thrower|4|var)", "(map|umap|mmap|ummap)_(string_.*|int32_(map|string|vec))", "Simple", "Derived",
		"Nested", "WithD32", "Tpl_string_3", "spelled_map"),
}

// TestJsroot has jsroot read files of this library. It must read the same values as
// from ROOT's files, except where it fails with those, too.
func TestJsroot(t *testing.T) {
	needed(t)
	modules, err := jsroot()
	if errors.Is(err, errNoNode) {
		t.Skip("skipped: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	root, err := matrix()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := rewritten()
	if err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{"types_none_one", "types_zlib_one", "types_lzma_one", "types_lz4_one", "types_zstd_one",
		"types_cs_one", "types_zstd_many"} {
		t.Run(base, func(t *testing.T) {
			out, err := exec.Command("node", "jsroot_read.mjs", modules, "types", filepath.Join(root, base+".jsonl.gz"),
				filepath.Join(root, base+".root"), filepath.Join(ours, base+".root")).Output()
			if err != nil {
				t.Fatal(err)
			}
			var report struct {
				Jsroot string
				Files  []map[string]string
			}
			if err := json.Unmarshal(out, &report); err != nil {
				t.Fatal(err)
			}
			faults := jsrootFaults
			if strings.HasSuffix(base, "_many") {
				faults = slices.Concat(faults, jsrootPageFaults)
			}
			judgeReader(t, "jsroot "+report.Jsroot, faults, report.Files[0], report.Files[1])
		})
	}
}

// judgeReader compares the errors in the fields of ROOT's file and of ours, or "",
// with the known faults of the reader.
func judgeReader(t *testing.T, reader string, faults []readerFault, root, ours map[string]string) {
	t.Helper()
	right := 0
	used := make([]int, len(faults))
	for name, wrong := range ours {
		if wrong == "" {
			right++
			continue
		}
		known := slices.IndexFunc(faults, func(f readerFault) bool { return f.fields.MatchString(name) })
		switch {
		case known < 0 && root[name] == "":
			t.Errorf("%s cannot read %s in our file, but in ROOT's: %s", reader, name, wrong)
		case known < 0:
			t.Errorf("%s has an unknown fault with %s: %s; in ROOT's file: %s", reader, name, wrong, root[name])
		default:
			used[known]++
		}
	}
	for name, wrong := range root {
		if _, ok := ours[name]; !ok {
			t.Errorf("%s finds no field %s in our file", reader, name)
		} else if wrong != "" && ours[name] == "" {
			t.Logf("%s reads %s in our file only: %s", reader, name, wrong)
		}
	}
	t.Logf("%s reads %d of %d fields", reader, right, len(ours))
	for i, f := range faults {
		if used[i] == 0 {
			t.Errorf("%s has no fault with %s any longer", reader, f.what)
		}
		t.Logf("%s, known fault in %d fields: %s", reader, used[i], f.what)
	}
}
