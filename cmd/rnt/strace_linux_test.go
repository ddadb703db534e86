package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A call is a system call that succeeded, as strace shows it. Others may have run at
// the same time: it began and ended with the given lines.
type call struct {
	name       string
	path, to   string // of the file that is written, synced or renamed
	off, size  int64  // of a write; -1 if unknown
	begin, end int
}

func (c call) String() string {
	return fmt.Sprintf("%d-%d %s %q %s %d+%d", c.begin, c.end, c.name, filepath.Base(c.path), c.to, c.off, c.size)
}

const traced = "trace=?write,?pwrite64,?writev,?pwritev,?pwritev2,?copy_file_range,?sendfile,?splice,?ioctl,?fallocate,?ftruncate,?truncate," +
	"?fsync,?fdatasync,?sync,?syncfs,?sync_file_range,?msync,?rename,?renameat,?renameat2,?link,?linkat,?unlink,?unlinkat"

// writing and syncing are the names of the calls that write to files, and that sync
// them.
var (
	writing = []string{"write", "pwrite64", "writev", "pwritev", "pwritev2", "copy_file_range", "sendfile", "splice",
		"ioctl", "fallocate", "ftruncate", "truncate"}
	syncing = []string{"fsync", "fdatasync", "sync", "syncfs", "sync_file_range", "msync"}
)

var (
	traceLine = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)`)
	traceHead = regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$`)
	traceTail = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)$`)
	tracePath = regexp.MustCompile(`\b\d+<((?:[^>\\]|\\.)*)>`)
	traceName = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
)

// trace runs the tool under strace and returns its system calls that concern files.
// Tests are skipped where that does not work.
func trace(t *testing.T, stdin string, args ...string) (calls []call) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "trace")
	cmd := another(t, t.TempDir(), args...)
	cmd.Args = slices.Concat([]string{"strace", "-f", "-qq", "-y", "-s", "0", "-e", "signal=none", "-e", traced,
		"-o", log, cmd.Path}, args)
	var err error
	if cmd.Path, err = exec.LookPath("strace"); err != nil {
		t.Skip("skipped: ", err)
	}
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		if probe, no := exec.Command("strace", "-o", log, "true").CombinedOutput(); no != nil {
			t.Skipf("skipped: strace does not work here: %v: %s", no, probe)
		}
		t.Fatalf("rnt %v: %v\n%s", args, err, out)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	begun := map[string]int{} // the line where a call of a process began that has not ended
	heads := map[string]string{}
	for i, line := range strings.Split(string(b), "\n") {
		begin := i
		if m := traceHead.FindStringSubmatch(line); m != nil {
			begun[m[1]], heads[m[1]] = i, m[1]+" "+m[2]+"("+m[3]
			continue
		}
		if m := traceTail.FindStringSubmatch(line); m != nil {
			begin, line = begun[m[1]], heads[m[1]]+m[3]
		}
		m := traceLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if n, err := strconv.ParseInt(m[4], 10, 64); err == nil && n >= 0 {
			calls = append(calls, callOf(t, m[2], m[3], begin, i))
		}
	}
	return slices.DeleteFunc(calls, func(c call) bool {
		return c.name == "ioctl" && c.size != 0 || c.path == "" && slices.Contains(writing, c.name)
	})
}

func callOf(t *testing.T, name, args string, begin, end int) call {
	t.Helper()
	c := call{name: name, off: -1, size: -1, begin: begin, end: end}
	var paths, names []string
	for _, m := range tracePath.FindAllStringSubmatch(args, -1) {
		paths = append(paths, unquoted(t, m[1]))
	}
	for _, m := range traceName.FindAllStringSubmatch(args, -1) {
		names = append(names, unquoted(t, m[1]))
	}
	switch {
	case name == "copy_file_range" || name == "splice":
		if len(paths) == 2 {
			c.path = paths[1]
		}
	case strings.HasPrefix(name, "rename") || strings.HasPrefix(name, "link"):
		if len(names) == 2 {
			c.path, c.to = names[0], names[1]
		}
		for i, name := range []*string{&c.path, &c.to} {
			if !filepath.IsAbs(*name) && len(paths) == 2 {
				*name = filepath.Join(paths[i], *name)
			}
		}
	case len(paths) > 0:
		c.path = paths[0]
	case len(names) > 0:
		c.path = names[0]
	}
	switch name {
	case "pwrite64":
		if n := strings.Split(args, ", "); len(n) >= 4 {
			c.size, _ = strconv.ParseInt(n[len(n)-2], 10, 64)
			c.off, _ = strconv.ParseInt(n[len(n)-1], 10, 64)
		}
	case "ioctl":
		if strings.Contains(args, "FICLONE") || strings.Contains(args, "BTRFS_IOC_CLONE") {
			c.size = 0
		}
	}
	if !filepath.IsAbs(c.path) {
		c.path = "" // a pipe, or a terminal
	}
	return c
}

func unquoted(t *testing.T, text string) string {
	t.Helper()
	s, err := strconv.Unquote(`"` + text + `"`)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// named returns the calls of some names that concern a file.
func named(calls []call, path string, names ...string) (some []call) {
	for _, c := range calls {
		if slices.Contains(names, c.name) && (c.path == path || path == "") {
			some = append(some, c)
		}
	}
	return some
}

// checkNew checks how a new file came to be: all that is written to it under another
// name, a sync, the name, a sync of its folder.
func checkNew(t *testing.T, calls []call, out string) {
	t.Helper()
	var publish []call
	for _, c := range calls {
		if c.to == out {
			publish = append(publish, c)
		}
	}
	if len(publish) != 1 {
		t.Fatalf("%s: renamed %d times: %v", out, len(publish), calls)
	}
	temp, rename := publish[0].path, publish[0]
	writes, syncs := named(calls, temp, writing...), named(calls, temp, syncing...)
	folder := named(calls, filepath.Dir(out), syncing...)
	if filepath.Dir(temp) != filepath.Dir(out) || len(writes) == 0 || len(syncs) == 0 || len(folder) == 0 {
		t.Fatalf("%s: %d writes, %d syncs of %s, %d of its folder: %v", out, len(writes), len(syncs),
			temp, len(folder), calls)
	}
	last := syncs[len(syncs)-1]
	for _, w := range writes {
		if w.end >= last.begin {
			t.Errorf("%s: written after the last sync, or while it is under way: %v, %v", out, w, last)
		}
	}
	if last.end >= rename.begin {
		t.Errorf("%s: renamed before it is synced: %v, %v", out, last, rename)
	}
	if d := folder[len(folder)-1]; d.begin <= rename.end {
		t.Errorf("%s: its folder is not synced after %v", out, rename)
	}
	if direct := named(calls, out, writing...); len(direct) > 0 {
		t.Errorf("%s: written under its name: %v", out, direct)
	}
}

// freed is the most bytes that a mark of free space takes.
const freed = 8

// checkUpdate checks how an existing file is updated: all that the head refers to, a
// sync, the head in one write within one sector, a sync. What is written later, such as
// the records of subdirectories, is synced, too, unless it is a mark of free space.
func checkUpdate(t *testing.T, calls []call, path string) {
	t.Helper()
	writes, syncs := named(calls, path, writing...), named(calls, path, syncing...)
	isHead := func(w call) bool { return w.off >= 0 && w.off < 512 }
	if first := slices.IndexFunc(writes, isHead); first <= 0 {
		t.Fatalf("%s: no head is written, or nothing before it: %v", path, calls)
	}
	for i, w := range writes {
		// A head comes between two syncs.
		if isHead(w) {
			if w.off+w.size > 512 {
				t.Errorf("%s: the head is not within a sector: %v", path, w)
			}
			if !slices.ContainsFunc(syncs, func(s call) bool { return s.begin > writes[i-1].end && s.end < w.begin }) {
				t.Errorf("%s: what the head refers to is not synced before it: %v", path, calls)
			}
			if !slices.ContainsFunc(syncs, func(s call) bool {
				return s.begin > w.end && (i+1 == len(writes) || s.end < writes[i+1].begin)
			}) {
				t.Errorf("%s: the head is not synced: %v", path, calls)
			}
		}
		// Only marks of free space need not be synced.
		if synced := slices.ContainsFunc(syncs, func(s call) bool { return s.begin > w.end }); !synced &&
			(w.size < 0 || w.size > freed) {
			t.Errorf("%s: written and not synced: %v", path, w)
		}
	}
}

// The system calls of the commands that write are in the order that survives a power
// cut; with --no-sync, none of them syncs.
func TestSystemCalls(t *testing.T) {
	dir := t.TempDir()
	in, deep, damaged, schema := filepath.Join(dir, "in.root"), filepath.Join(dir, "deep.root"),
		filepath.Join(dir, "damaged.root"), filepath.Join(dir, "schema.json")
	some := numbers{0, 5000, 1}
	numbersFile(t, in, "n", numbersFields, some.lines())
	numbersFile(t, deep, "dir/sub/n", numbersFields, some.lines())
	b, err := os.ReadFile(in)
	if err == nil {
		clear(b[:100])
		err = os.WriteFile(damaged, b, 0o644)
	}
	schemaFile(t, schema, "n", numbersFields)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, lines string
		update      bool
	}{
		{"create FORCE --cluster-size 10000 --schema SCHEMA OUT", some.lines(), false},
		{"merge FORCE OUT IN IN", "", false},
		{"merge FORCE --level rewrite OUT IN IN", "", false},
		{"merge FORCE --all OUT IN IN", "", false},
		{"slim FORCE --fields x OUT IN", "", false},
		{"skim FORCE --where x>100 OUT IN", "", false},
		{"concat FORCE OUT IN[3:5]", "", false},
		{"hmerge FORCE OUT IN", "", false},
		{"repack FORCE --compression none OUT IN", "", false},
		{"rename FORCE --to new --out OUT IN", "", false},
		{"recover FORCE OUT DAMAGED", "", false},
		{"split --entries 3000 PART IN", "", false},
		{"append OUT IN", "", true},
		{"append OUT -", some.lines(), true},
		{"merge --into OUT IN", "", true},
		{"rename --to new OUT", "", true},
		{"index OUT", "", true},
		{"rename --field x=y OUT", "", true},
		{"append --name dir/sub/n OUT DEEP", "", true},
		{"rename --to new OUT dir/sub/n", "", true},
	} {
		for _, replace := range []bool{false, true} {
			for _, sync := range []bool{true, false} {
				if replace && (c.update || strings.HasPrefix(c.args, "split")) || replace && !sync {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%v", c.args, replace, sync), func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					out := filepath.Join(dir, "out.root")
					args := strings.Fields(c.args)
					if !sync {
						args = append(args, "--no-sync")
					}
					force := ""
					if replace {
						force = "--force"
					}
					base := in
					if strings.Contains(c.args, "dir/sub/n") {
						base = deep
					}
					if replace || c.update {
						copyFile(t, out, base)
					}
					names := strings.NewReplacer("FORCE", force, "IN", in, "DEEP", deep, "OUT", out, "DAMAGED", damaged, "SCHEMA",
						schema, "PART", filepath.Join(dir, "part.root"))
					for i := range args {
						args[i] = names.Replace(args[i])
					}
					calls := trace(t, c.lines, slices.DeleteFunc(args, func(a string) bool { return a == "" })...)
					switch {
					case !sync:
						if syncs := named(calls, "", syncing...); len(syncs) > 0 {
							t.Errorf("synced: %v", syncs)
						}
						if len(named(calls, "", writing...)) == 0 {
							t.Errorf("nothing was written: %v", calls)
						}
					case c.update:
						checkUpdate(t, calls, out)
					case strings.HasPrefix(c.args, "split"):
						checkNew(t, calls, filepath.Join(dir, "part-0.root"))
						checkNew(t, calls, filepath.Join(dir, "part-1.root"))
					default:
						checkNew(t, calls, out)
					}
				})
			}
		}
	}
}
