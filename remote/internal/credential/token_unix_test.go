//go:build unix

package credential

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestForeignToken makes sure that what another user has put, or could have put, where a token is looked for
// is not taken. The order of places is tested with package https.
func TestForeignToken(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("BEARER_TOKEN", "")
	t.Setenv("BEARER_TOKEN_FILE", "")
	t.Setenv("XDG_RUNTIME_DIR", dir)
	path := filepath.Join(dir, fmt.Sprintf("bt_u%d", os.Geteuid()))
	check := func(what, want string) {
		t.Helper()
		if token, err := Token(); err != nil || want != "" && token != want || token == "foreign" {
			t.Errorf("%s: %q, %v, want %q", what, token, err, want)
		}
		os.RemoveAll(path)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mine\n")
	check("a file", "mine")
	if err := os.Symlink(filepath.Join(dir, "there"), path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "there"), []byte("linked"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("a link to a file", "linked")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	check("a pipe", "")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	check("a folder", "")
	write("foreign")
	if err := os.Chown(path, 1, 1); err == nil { // the superuser can
		check("a file of another user", "")
	}
	write(strings.Repeat("a", longest+1))
	check("a long file", "")
	t.Setenv("BEARER_TOKEN_FILE", path)
	write(strings.Repeat("a", longest+1))
	if token, err := Token(); token != "" || err == nil || !strings.HasSuffix(err.Error(), "more than 1048576 bytes are no token") {
		t.Errorf("a long file: %d bytes, %v", len(token), err)
	}
}
