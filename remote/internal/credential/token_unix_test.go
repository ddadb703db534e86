//go:build unix

package credential

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTokenFile has what another user has put, or could have put, where a token is looked for, and
// what others can read. The order of places is tested with package https.
func TestTokenFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("BEARER_TOKEN", "")
	path := filepath.Join(dir, fmt.Sprintf("bt_u%d", os.Geteuid()))
	write := func(text string, mode os.FileMode) func() error {
		return func() error { return errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)) }
	}
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, []byte("linked"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what       string
		put        func() error
		token, err string
		foreign    bool
	}{
		{"a file", write("mine\n", 0o600), "mine", "", false},
		{"a file that cannot be written", write("mine", 0o400), "mine", "", false},
		{"a link", func() error { return os.Symlink(there, path) }, "", "is a symbolic link, not a regular file", false},
		{"a pipe", func() error { return syscall.Mkfifo(path, 0o600) }, "", "is a pipe, not a regular file", false},
		{"a folder", func() error { return os.Mkdir(path, 0o700) }, "", "is a directory", false},
		{"a file that others can read", write("mine", 0o604), "",
			"the file has mode 0604, and others must have no access, as with 0600: permission denied", false},
		{"a file that a group can write", write("mine", 0o620), "",
			"the file has mode 0620, and others must have no access, as with 0600: permission denied", false},
		{what: "a file of another user", foreign: true,
			put: func() error { return errors.Join(write("foreign", 0o600)(), os.Chown(path, 1, 1)) },
			err: "the file belongs to another user: permission denied"},
		{"a long file", write(strings.Repeat("a", 1<<20+1), 0o600), "", "the file has more than 1048576 bytes", false},
	} {
		if err := c.put(); errors.Is(err, fs.ErrPermission) {
			t.Logf("%s: skipped, only the superuser can make it", c.what)
		} else if err != nil {
			t.Fatal(err)
		} else {
			for _, env := range [][2]string{{path, ""}, {"", dir}} { // where the user says, and where it is looked for
				t.Setenv("BEARER_TOKEN_FILE", env[0])
				t.Setenv("XDG_RUNTIME_DIR", env[1])
				token, err := Token()
				if env[0] == "" && c.foreign { // passed over
					c.err = ""
				}
				if text := fmt.Sprint(err); token != c.token || c.err == "" && err != nil || c.err != "" &&
					!strings.HasSuffix(text, path+": "+c.err) {
					t.Errorf("%s, %q: %q, %v, want %q, %s", c.what, env, token, err, c.token, c.err)
				}
			}
		}
		os.RemoveAll(path)
	}
}
