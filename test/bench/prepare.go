package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// sizes holds the sizes of the data sets.
type sizes struct {
	entries          map[string]int // by data set
	fields, clusters int            // of the file with many
	inputs           int            // of a merge, at most
}

var (
	fullSizes  = sizes{map[string]int{"F": 3_000_000, "J": 500_000, "S": 300_000}, 10_000, 1_000, 2_000}
	quickSizes = sizes{map[string]int{"F": 30_000, "J": 5_000, "S": 3_000}, 100, 10, 20}
)

// part returns the sizes with an n-th of the entries.
func (s sizes) part(n int) sizes {
	entries := map[string]int{}
	for data, all := range s.entries {
		entries[data] = all / n
	}
	s.entries = entries
	return s
}

// A workshop builds the programs and makes the data.
type workshop struct {
	bench   string // the folder of this program
	bin     string // programs that are built
	data    string // data sets, for sizes
	scratch string // where benchmarks write
	venv    string
	sizes
}

// newWorkshop returns a workshop that keeps its files below dir, in folders whose
// names depend on the sources, so that nothing outdated is used.
func newWorkshop(dir, scratch string, s sizes) (*workshop, error) {
	bench, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/go-rntuple/go-rntuple/test/bench").Output()
	if err != nil {
		return nil, fmt.Errorf("not in a folder of the workspace: %w", err)
	}
	w := &workshop{bench: strings.TrimSpace(string(bench)), scratch: scratch, sizes: s}
	cpp, err := hash(filepath.Join(w.bench, "cpp"))
	if err != nil {
		return nil, err
	}
	data, err := hash(filepath.Join(w.bench, "cpp", "data.hxx"))
	if err != nil {
		return nil, err
	}
	w.bin = filepath.Join(dir, "bin-"+cpp)
	w.data = filepath.Join(dir, fmt.Sprintf("data-%s-%d", data, s.entries["F"]))
	w.venv = os.Getenv("RNTUPLE_VENV")
	if w.venv == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		w.venv = filepath.Join(cache, "go-rntuple", "venv")
	}
	for _, dir := range []string{w.bin, w.data} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// hash returns a short hash of a file, or of the files in a folder.
func hash(root string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		h.Write(text)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil)[:4]), err
}

// run runs a command, and shows its output only if it fails.
func (w *workshop) run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "VIRTUAL_ENV="+w.venv,
		"PATH="+filepath.Join(w.venv, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return nil
}

// build builds our program, our tool, and ROOT's program, which makes the data.
func (w *workshop) build() error {
	if err := w.run(filepath.Join(w.bench, "..", "interop", "setup.sh"), w.venv); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(w.bin, "rootbench")); err != nil {
		if err := w.run(filepath.Join(w.bench, "cpp", "build.sh"), w.bin); err != nil {
			return err
		}
	}
	for _, b := range []struct{ program, source string }{{"ours", "./go"}, {"rnt", "../../cmd/rnt"}} {
		if err := w.run("go", "build", "-C", w.bench, "-o", filepath.Join(w.bin, b.program), b.source); err != nil {
			return err
		}
	}
	return nil
}

// buildPeers builds the program of the other libraries in Go, whose many
// dependencies stay out of the workspace.
func (w *workshop) buildPeers() error {
	return w.run("env", "GOWORK=off", "go", "build", "-C", filepath.Join(w.bench, "peers"), "-o",
		filepath.Join(w.bin, "peers"), ".")
}

// buildCodecs builds the programs that only benchmarks of codecs need.
func (w *workshop) buildCodecs() error {
	if err := w.run(filepath.Join(w.bench, "cpp", "build_codecs.sh"), w.bin); err != nil {
		return err
	}
	return w.run("go", "build", "-C", w.bench, "-tags", "stockcodecs", "-o", filepath.Join(w.bin, "stock"), "./go")
}

// command returns the command for a piece of work.
func (w *workshop) command(p program, args ...string) []string {
	switch p {
	case ours:
		return append([]string{filepath.Join(w.bin, "ours")}, args...)
	case root:
		return append([]string{filepath.Join(w.bin, "rootbench")}, args...)
	case stock:
		return append([]string{filepath.Join(w.bin, "stock")}, args...)
	case earlier:
		return append([]string{filepath.Join(w.bin, "earlier")}, args...)
	case native:
		return append([]string{filepath.Join(w.bin, "codecs")}, args...)
	case peers:
		return append([]string{filepath.Join(w.bin, "peers")}, args...)
	case pyarrow:
		return append([]string{filepath.Join(w.venv, "bin", "python"), filepath.Join(w.bench, "py", "arrow_bench.py"),
			filepath.Join(w.bin, "rnt")}, args...)
	default:
		python := filepath.Join(w.venv, "bin", "python")
		script := "uproot_bench.py"
		if strings.HasPrefix(args[0], "expression-") {
			script = "expressions.py"
		}
		return append([]string{python, filepath.Join(w.bench, "py", script)}, args...)
	}
}

// prepare makes the files that the rows read before anything is measured.
func (w *workshop) prepare(table []row) error {
	for _, r := range table {
		files := []string{r.file}
		if r.values != "" {
			files = append(files, r.values)
		}
		for _, rival := range r.rivals {
			files = append(files, cmp.Or(rival.file, r.file))
		}
		for _, file := range files {
			if _, err := w.path(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// path returns the path of the file of the given name, which it makes if necessary:
//
//	F-505.root     a data set with a compression
//	F-tree.root    the same as a TTree
//	F.parquet      the same as a Parquet file
//	wide.root      many fields and clusters; wide-flat.root: ten clusters
//	wide-FIELDS-CLUSTERS.root
//	F-505-N.root   N entries of a data set; F-tree-N.root: as a TTree
//
// and files of pages; see makePages.
func (w *workshop) path(name string) (string, error) {
	path := filepath.Join(w.data, name)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	stem, kind, _ := strings.Cut(name, ".")
	parts := strings.Split(stem, "-")
	set, entries := parts[0], strconv.Itoa(w.entries[parts[0]])
	var cmd []string
	var err error
	switch {
	case kind == "raw":
		cmd, err = w.makePages(set, "")
	case kind == "pages":
		cmd, err = w.makePages(set, parts[1])
	case kind == "parquet":
		source, err := w.path(set + "-505.root")
		if err != nil {
			return "", err
		}
		cmd = w.command(peers, "parquet", set, source)
	case name == "wide.root":
		cmd = w.command(root, "wide", strconv.Itoa(w.fields), strconv.Itoa(w.clusters))
	case name == "wide-flat.root":
		cmd = w.command(root, "wide", strconv.Itoa(w.fields), "10")
	case set == "wide":
		cmd = w.command(root, "wide", parts[1], parts[2])
	case parts[1] == "tree" && len(parts) == 3:
		cmd = w.command(root, "tree", set, parts[2], "505")
	case parts[1] == "tree":
		cmd = w.command(root, "tree", set, entries, "505")
	case len(parts) == 3:
		cmd = w.command(root, "make", set, parts[2], parts[1])
	default:
		cmd = w.command(root, "make", set, entries, parts[1])
	}
	if err != nil {
		return "", err
	}
	fmt.Fprintln(os.Stderr, "making", name)
	unfinished := filepath.Join(w.data, "unfinished-"+name)
	if err := w.run(cmd[0], append(cmd[1:], unfinished)...); err != nil {
		return "", err
	}
	return path, os.Rename(unfinished, path)
}
