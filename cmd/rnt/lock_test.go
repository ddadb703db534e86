package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
)

// TestDurabilityFlags looks for the flags in the help of all commands that write files.
func TestDurabilityFlags(t *testing.T) {
	updating := map[string]bool{"append": true, "rename": true, "merge": true, "index": true}
	for _, name := range strings.Fields("create recover merge append slim skim concat split hmerge repack rename index") {
		text := rnt(t, "help", name)
		if !strings.Contains(text, "--no-sync") {
			t.Errorf("%s has no --no-sync", name)
		}
		if strings.Contains(text, "--wait") != updating[name] {
			t.Errorf("%s: --wait: %t", name, !updating[name])
		}
	}
}

// TestLocked updates a file that is being updated.
func TestLocked(t *testing.T) {
	into, more := made(t, "left", leftFields, leftLines), made(t, "left", leftFields, leftLines)
	before, err := os.ReadFile(into)
	if err != nil {
		t.Fatal(err)
	}
	commands := [][]string{{"append", into, "-"}, {"append", into, more}, {"merge", "--into", into, more}, {"index", into},
		{"rename", "--to", "left2", into}}
	f, err := diskfile.Update(into, diskfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if other, err := diskfile.Update(into, diskfile.Options{}); err == nil {
		other.Close()
		f.Close()
		t.Skip("there are no locks here")
	}
	for _, args := range commands {
		for _, wait := range []string{"0s", "20ms"} {
			_, problem := fed(t, exitError, leftLines, append(args, "--wait", wait)...)
			if want := "rnt: " + into + ": another process is updating the file\n"; problem != want {
				t.Errorf("%s: %q, want %q", args, problem, want)
			}
		}
	}
	if now, err := os.ReadFile(into); string(now) != string(before) || err != nil {
		t.Errorf("the file has changed, %v", err)
	}
	closed := make(chan error)
	time.AfterFunc(20*time.Millisecond, func() { closed <- f.Close() })
	for _, args := range commands {
		fed(t, exitOK, leftLines, append(args, "--wait", "1h", "--no-sync")...)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	compare(t, rnt(t, "cat", into, "left2"), strings.Repeat(leftLines, 4))
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(into), ".*")); len(left) > 0 || err != nil {
		t.Error(left, err)
	}
}
