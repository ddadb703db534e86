package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/test/golden"
)

const shared = "../../../shared/testdata/root"

// environment makes the Python environment with ROOT, and returns its folder.
var environment = sync.OnceValues(func() (string, error) {
	dir := os.Getenv("RNTUPLE_VENV")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(cache, "go-rntuple", "venv")
	}
	setup := exec.Command("./setup.sh", dir)
	setup.Stderr = os.Stderr
	return dir, setup.Run()
})

// run runs a script of testdata/gen in the environment and returns what it
// prints to standard output and standard error.
func run(name string, args ...string) (stdout, stderr []byte, err error) {
	return runWith(nil, name, args...)
}

// runWith does the same, with standard input.
func runWith(stdin io.Reader, name string, args ...string) (stdout, stderr []byte, err error) {
	dir, err := environment()
	if err != nil {
		return nil, nil, fmt.Errorf("no environment with ROOT: %w", err)
	}
	bin := filepath.Join(dir, "bin")
	cmd := exec.Command("../../testdata/gen/"+name, args...)
	if filepath.Ext(name) == ".py" {
		cmd = exec.Command(filepath.Join(bin, "python"), append([]string{"../../testdata/gen/" + name}, args...)...)
	}
	cmd.Env = append(os.Environ(), "VIRTUAL_ENV="+dir, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PYTHONWARNINGS=ignore")
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("%s %v: %w\n%s%s", name, args, err, out.Bytes(), errs.Bytes())
	}
	return out.Bytes(), errs.Bytes(), err
}

// asked skips the test unless RNTUPLE_INTEROP asks for it.
func asked(t *testing.T) {
	t.Helper()
	if os.Getenv("RNTUPLE_INTEROP") == "" {
		t.Skip("skipped without RNTUPLE_INTEROP=1: needs ROOT and minutes")
	}
}

// needed does the same, and runs the test beside others: most of them wait for one other program.
func needed(t *testing.T) {
	t.Helper()
	asked(t)
	t.Parallel()
}

// script runs a script of testdata/gen in the environment and returns what it
// prints.
func script(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, _, err := run(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTypes has ROOT write every type in all of ROOT's encodings for it, with every
// compression and layout, and compares all values with those that ROOT reads back.
func TestTypes(t *testing.T) {
	needed(t)
	dir, err := matrix()
	if err != nil {
		t.Fatal(err)
	}
	golden.Test(t, filepath.Join(dir, "manifest.json"), dir)
}

// TestSpecial does the same for late model extension, directories and cycles,
// tiny keys, attribute sets, shared pages, several representations and more.
func TestSpecial(t *testing.T) {
	needed(t)
	dir := t.TempDir()
	script(t, "special.sh", dir)
	golden.Test(t, filepath.Join(dir, "special_manifest.json"), dir)
}

// TestShared compares the public files, and their digests in testdata.
func TestShared(t *testing.T) {
	needed(t)
	if _, err := os.Stat(shared); err != nil {
		t.Skipf("the public files are not there: %v", err)
	}
	dir := t.TempDir()
	script(t, "shared_reference.py", shared, dir)
	manifest := filepath.Join(dir, "manifest.json")
	golden.Test(t, manifest, shared)
	got, err1 := golden.Manifest(manifest)
	want, err2 := golden.Manifest("../../testdata/shared.json")
	if err1 != nil || err2 != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("testdata/shared.json does not say what %s says (%v, %v)", manifest, err1, err2)
	}
}

// TestDimuon compares the counts that the test of the example expects with those of
// uproot.
func TestDimuon(t *testing.T) {
	needed(t)
	expected := "../../examples/dimuon/testdata/"
	for file, counts := range map[string]string{
		"../../testdata/dimuon.root": "dimuon.json",
		shared + "/Run2012BC_DoubleMuParked_Muons_1000evts_rntuple_v1-0-0-0.root": "Run2012BC_DoubleMuParked_Muons_1000evts.json",
	} {
		if _, err := os.Stat(file); err != nil {
			t.Logf("%v", err)
			continue
		}
		var got, want map[string]any
		if err := json.Unmarshal(script(t, "dimuon_reference.py", file), &got); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(expected + counts)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			if name != "file" && !reflect.DeepEqual(got[name], value) {
				t.Errorf("%s: %s is %v, uproot says %v", counts, name, value, got[name])
			}
		}
	}
}
