package credential

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Certificates are what the environment says about them. They can be compared.
type Certificates struct{ cert, key, authorities string }

// FindCertificates returns what the environment says now.
func FindCertificates() Certificates {
	c := Certificates{os.Getenv("X509_USER_CERT"), os.Getenv("X509_USER_KEY"), os.Getenv("X509_CERT_DIR")}
	if proxy := os.Getenv("X509_USER_PROXY"); proxy != "" {
		c.cert, c.key = proxy, proxy
	}
	return c
}

// Config returns a configuration of TLS with the certificates.
func (c Certificates) Config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.cert != "" {
		if _, err := c.client(); err != nil {
			return nil, err
		}
		// Read anew for each connection, because certificates for a few hours are replaced.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c.client() }
	}
	if c.authorities != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		entries, err := os.ReadDir(c.authorities)
		if err != nil {
			return nil, fmt.Errorf("X509_CERT_DIR: %w", err)
		}
		for _, e := range entries {
			if ext := filepath.Ext(e.Name()); ext == ".pem" || ext == ".crt" ||
				strings.Trim(ext, ".0123456789") == "" && ext != "" {
				if b, err := os.ReadFile(filepath.Join(c.authorities, e.Name())); err == nil {
					pool.AppendCertsFromPEM(b)
				}
			}
		}
		config.RootCAs = pool
	}
	return config, nil
}

// client returns the client's certificate.
func (c Certificates) client() (*tls.Certificate, error) {
	key := c.key
	if key == "" {
		key = c.cert
	}
	cert, err := tls.LoadX509KeyPair(c.cert, key)
	if err != nil {
		return nil, fmt.Errorf("the client's certificate: %w", err)
	}
	return &cert, nil
}
