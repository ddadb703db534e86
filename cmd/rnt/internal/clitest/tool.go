package clitest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/internal/jsonl"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Tool is the tool with the commands of some families.
type Tool []cli.Family

// Run runs a command and returns the exit status.
func (f Tool) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.New(stdin, stdout, stderr, f...).Run(ctx, args)
}

// Try runs a command without input.
func (f Tool) Try(args ...string) (stdout, stderr string, status int) {
	var o, e strings.Builder
	status = f.Run(context.Background(), args, strings.NewReader(""), &o, &e)
	return o.String(), e.String(), status
}

// RNT runs a command, which must succeed and print no message, and returns what it prints.
func (f Tool) RNT(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, status := f.Try(args...)
	if status != cli.ExitOK || stderr != "" {
		t.Fatalf("rnt %s: status %d, %s", strings.Join(args, " "), status, stderr)
	}
	return stdout
}

// Fed runs a command with some input, and wants a status.
func (f Tool) Fed(t *testing.T, status int, in string, args ...string) (stdout, stderr string) {
	t.Helper()
	var o, e strings.Builder
	if got := f.Run(context.Background(), args, strings.NewReader(in), &o, &e); got != status {
		t.Fatalf("%v: status %d: %s", args, got, &e)
	}
	return o.String(), e.String()
}

// JSON runs a command and decodes the JSON that it prints, all members of which T must have.
func JSON[T any](t *testing.T, f Tool, args ...string) (v T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(f.RNT(t, args...)))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Compare reports a difference.
func Compare(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Made returns the path of a file with an RNTuple of the fields, a list in JSON, and the entries,
// JSON Lines.
func Made(t *testing.T, name, fields, lines string) string {
	t.Helper()
	doc, err := schema.ParseDocument(strings.NewReader(fmt.Sprintf(`{"name": %q, "fields": [%s]}`, name, fields)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name+".root")
	w, err := rntuple.CreateRecords(path, name, doc, &rntuple.WriteOptions{File: rntuple.FileOptions{NoSync: true}})
	if err != nil {
		t.Fatal(err)
	}
	entries := jsonl.NewReader(strings.NewReader(lines), w.Schema().Fields)
	for {
		record, err := entries.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = w.Write(&record)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Arguments returns the words of a command line, with names in place of others: old, new, and so
// on. Names may have spaces.
func Arguments(command string, oldnew ...string) []string {
	names, all := strings.NewReplacer(oldnew...), strings.Fields(command)
	for i := range all {
		all[i] = names.Replace(all[i])
	}
	return all
}

// Shared returns the path of a file of the shared test data in a folder, without which the test is
// skipped.
func Shared(t *testing.T, folder, name string) string {
	t.Helper()
	path := filepath.Join(folder, "root", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the shared test data are not there: %v", err)
	}
	return path
}
