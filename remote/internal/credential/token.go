package credential

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Token returns the token of this process, or none. It reads files anew each time, because tokens
// expire and are replaced.
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
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || !own(info) { // anybody can make one in /tmp
			continue
		}
		if token, err := readToken(path); err == nil && token != "" {
			return token, valid(token, path)
		}
	}
	return "", nil
}

// longest is the size of the largest file that is taken for a token.
const longest = 1 << 20

func readToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, longest+1))
	if err == nil && len(b) > longest {
		err = fmt.Errorf("%s: more than %d bytes are no token", path, longest)
	}
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
