package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// another returns the tool as another process, which the test program runs itself.
// Its temporary files go to the folder temp.
func another(t *testing.T, temp string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "RNT_TEST_AS_TOOL=1", "TMPDIR="+temp)
	return cmd
}

// crashes returns how often tests with processes repeat each of their cases, which
// is few times unless RNTUPLE_CRASHES says more.
func crashes(t *testing.T) int {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("skipped: there are no signals to send")
	}
	text := os.Getenv("RNTUPLE_CRASHES")
	switch {
	case text != "":
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	case testing.Short():
		return 1
	}
	return 2
}

// numbers are the entries x of an RNTuple whose other field is a list of x%3 times
// the number x: from first on, every step-th.
type numbers struct{ first, end, step int }

const (
	numbersFields = `{"name": "x", "type": "std::int64_t"}, {"name": "v", "type": "std::vector<float>"}`
	otherFields   = `{"name": "z", "type": "std::int64_t"}, {"name": "w", "type": "std::vector<float>"}`
)

// lines returns the entries as JSON Lines.
func (n numbers) lines() string { return n.linesOf("x", "v") }

func (n numbers) linesOf(number, list string) string {
	var b strings.Builder
	for x := n.first; x < n.end; x += n.step {
		fmt.Fprintf(&b, "{%q:%d,%q:[%s]}\n", number, x, list,
			strings.TrimSuffix(strings.Repeat(strconv.Itoa(x)+",", x%3), ","))
	}
	return b.String()
}

// held is what a file holds: the name of its RNTuple, how many entries that has and
// the sum of all numbers in them. It is zero if there is no file.
type held struct {
	name    string
	entries int
	sum     float64
}

// of returns what a file with an RNTuple of some numbers holds.
func of(name string, all ...numbers) held {
	s := held{name: name}
	for _, n := range all {
		for x := n.first; x < n.end; x += n.step {
			s.entries++
			s.sum += float64(x * (1 + x%3))
		}
	}
	return s
}

// heldBy reads what a file holds, all of which must be in order: in its only RNTuple,
// or in the first one there is of those with the given names.
func heldBy(t *testing.T, path string, names ...string) (s held) {
	t.Helper()
	if _, err := os.Lstat(path); os.IsNotExist(err) {
		return s
	}
	if stdout, stderr, status := try("verify", "-q", path); status != exitOK {
		t.Errorf("verify: status %d, %s%s", status, stdout, stderr)
	}
	r, err := rntuple.Open(path, strings.Join(names[:min(1, len(names))], ""), nil)
	if len(names) > 1 && errors.Is(err, rntuple.ErrNotFound) {
		return heldBy(t, path, names[1:]...)
	}
	if err != nil {
		t.Error(err)
		return s
	}
	defer r.Close()
	view, err := rntuple.RecordsOf(r)
	if err != nil {
		t.Error(err)
		return s
	}
	s.name = r.Name()
	for _, record := range view.All() {
		s.entries++
		for _, v := range record.Values {
			s.sum += sumOf(v)
		}
	}
	if view.Err() != nil {
		t.Error(view.Err())
	}
	return s
}

func sumOf(v any) (sum float64) {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float32:
		return float64(v)
	case []any:
		for _, one := range v {
			sum += sumOf(one)
		}
	}
	return sum
}

// schemaFile writes the schema of an RNTuple for the command create.
func schemaFile(t *testing.T, path, name, fields string) {
	t.Helper()
	if err := os.WriteFile(path, fmt.Appendf(nil, `{"name": %q, "fields": [%s]}`, name, fields), 0o644); err != nil {
		t.Fatal(err)
	}
}

// numbersFile makes a file with an RNTuple of numbers.
func numbersFile(t *testing.T, path, name, fields, lines string) {
	t.Helper()
	document := filepath.Join(t.TempDir(), "schema.json")
	schemaFile(t, document, name, fields)
	fed(t, exitOK, lines, "create", "--force", "--schema", document, path)
}

// copyFile copies a file, or removes the copy if there is none to copy.
func copyFile(t *testing.T, to, from string) {
	t.Helper()
	os.Remove(to)
	if from == "" {
		return
	}
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// names returns the names of all that is in a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
