package rntgroot_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/bridge/rntgroot"
	_ "github.com/go-rntuple/go-rntuple/remote/https"
)

// TestSecrets makes sure that errors about what a file holds do not show what its URL holds.
func TestSecrets(t *testing.T) {
	s := httptest.NewServer(http.FileServer(http.Dir("../../testdata")))
	defer s.Close()
	url := strings.Replace(s.URL, "//", "//user:secret@", 1) + "/dimuon.root?token=secret"
	_, err := rntgroot.OpenTree("", []string{url}, nil)
	if err == nil || !strings.Contains(err.Error(), "no TTree") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
