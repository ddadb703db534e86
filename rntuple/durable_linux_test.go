package rntuple_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// openElsewhere has another process open the file at path for writing, without a lock, until
// the function that it returns is called. The process is number pid.
func openElsewhere(t *testing.T, path string) (pid int, end func()) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", `exec 3<>"$0"; echo ready; read line`, path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	return cmd.Process.Pid, func() {
		in.Close()
		cmd.Wait()
	}
}

// TestOpenElsewhere updates a file that a process without our lock has open for writing:
// before the update, before its commit, from the middle of the commit on, and within it.
func TestOpenElsewhere(t *testing.T) {
	path := countedFile(t, 10)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, err error, pid int, message string, entries int64) {
		t.Helper()
		text := fmt.Sprintf("process %d (", pid)
		if pid == 0 {
			text = "another process had"
		}
		if !errors.Is(err, rntuple.ErrOpenElsewhere) || !strings.HasPrefix(err.Error(), path+": ") ||
			!strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, want %s", what, err, text)
		}
		wantEntries(t, what, path, entries)
		// The other process may have written something, so the length is not touched.
		if now, err := os.ReadFile(path); err != nil || entries == 10 && !bytes.HasPrefix(now, before) {
			t.Errorf("%s: the file has changed, %v", what, err)
		}
	}
	pid, end := openElsewhere(t, path)
	_, err = rntuple.Append[counted](path, "t", nil)
	check("before the update", err, pid, "", 10)
	end()

	w, err := rntuple.Append[counted](path, "t", nil)
	if err != nil {
		t.Fatal(err)
	}
	pid, end = openElsewhere(t, path)
	check("before the commit", writeCounted(w, 10, 20, 0), pid, "", 10)
	end()

	if w, err = rntuple.Append[counted](path, "t", nil); err != nil {
		t.Fatal(err)
	}
	end = nil
	operations(func() { err = writeCounted(w, 10, 20, 0) }, func(op diskfile.Op) error {
		if op.Kind == diskfile.WriteOp && op.Off == 0 && end == nil {
			pid, end = openElsewhere(t, path)
		}
		return nil
	})
	check("in the commit", err, pid, "everything is committed, but may be undone", 20)
	end()

	// Between the commit's last look at the head and its write: only that it was open can be seen.
	if w, err = rntuple.Append[counted](path, "t", nil); err != nil {
		t.Fatal(err)
	}
	visited := false
	operations(func() { err = writeCounted(w, 20, 30, 0) }, func(op diskfile.Op) error {
		if op.Kind == diskfile.WriteOp && op.Off == 0 && !visited {
			visited = true
			_, end = openElsewhere(t, path)
			end()
		}
		return nil
	})
	check("within the commit", err, 0, "everything is committed, but may be undone", 30)

	if w, err = rntuple.Append[counted](path, "t", nil); err == nil {
		err = writeCounted(w, 30, 40, 5)
	}
	if err != nil {
		t.Error(err)
	}
	wantEntries(t, "alone", path, 40)
}
