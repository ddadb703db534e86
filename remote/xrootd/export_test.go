package xrootd

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
)

// StartServer starts a server of the files in testdata/good until the test ends. In the
// configuration DIR stands for a folder which has cert.pem, which is trusted, key.pem, and what the
// functions put there.
func StartServer(t *testing.T, config string, prepare ...func(dir string)) *remotetest.XRootD {
	t.Helper()
	certFile, keyFile := certificate(t)
	t.Setenv("X509_CERT_DIR", filepath.Dir(certFile))
	certify := func(dir string) {
		for name, from := range map[string]string{"cert.pem": certFile, "key.pem": keyFile} {
			b, err := os.ReadFile(from)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return remotetest.StartXRootD(t, remotetest.GoodFiles(t), config, slices.Insert(prepare, 0, certify)...)
}
