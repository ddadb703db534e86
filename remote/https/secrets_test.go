package https_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/container"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/rescue"
)

// TestSecrets makes sure that errors about what a file holds do not show what its URL holds.
func TestSecrets(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Unix(1, 0), strings.NewReader(strings.Repeat("no ROOT file\x00", 100)))
	}))
	defer s.Close()
	url := strings.Replace(s.URL, "//", "//user:secret@", 1) + "/a.root?token=secret"
	for name, open := range map[string]func() error{
		"Open":      func() error { _, err := rntuple.Open(url, "", nil); return err },
		"ListFile":  func() error { _, err := rntuple.ListFile(t.Context(), url, nil); return err },
		"PathsIn":   func() error { _, err := rntuple.PathsIn(t.Context(), url, nil); return err },
		"container": func() error { _, err := container.Open(t.Context(), url, nil); return err },
		"rescue":    func() error { _, err := rescue.File(t.Context(), t.TempDir()+"/out.root", url, nil); return err },
	} {
		if err := open(); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
