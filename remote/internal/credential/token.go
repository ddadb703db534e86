package credential

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
)

// Token returns the token of this process, or none. It reads files anew each time, because tokens
// expire and are replaced. A file must be private, see regular.ReadPrivate; otherwise Token returns
// an error instead of a token from the next place. Only a file that belongs to another user is
// passed over, unless BEARER_TOKEN_FILE names it: anybody can put one into /tmp.
//
// Source: WLCG Bearer Token Discovery 1.0.
func Token() (string, error) {
	if token := strings.TrimSpace(os.Getenv("BEARER_TOKEN")); token != "" {
		return token, valid(token, "BEARER_TOKEN")
	}
	if path := os.Getenv("BEARER_TOKEN_FILE"); path != "" {
		token, err := readToken(path)
		if err != nil {
			return "", fmt.Errorf("BEARER_TOKEN_FILE: %w", err)
		}
		return token, valid(token, path)
	}
	name := fmt.Sprintf("bt_u%d", os.Geteuid())
	for _, dir := range []string{os.Getenv("XDG_RUNTIME_DIR"), "/tmp"} {
		if dir == "" || os.Geteuid() < 0 {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err != nil || !regular.Own(info) {
			continue
		}
		token, err := readToken(path)
		if err != nil {
			return "", fmt.Errorf("bearer token: %w", err)
		}
		if token != "" {
			return token, valid(token, path)
		}
	}
	return "", nil
}

func readToken(path string) (string, error) {
	b, err := regular.ReadPrivate(path)
	return strings.TrimSpace(string(b)), err
}

// valid returns an error if a token has bytes that a header or a line must not have.
func valid(token, where string) error {
	for _, c := range []byte(token) {
		if c <= ' ' || c >= 0x7f {
			return fmt.Errorf("%s: the token has the byte %#x", where, c)
		}
	}
	return nil
}
