package https

import (
	"net"
	"net/http"
	"net/url"

	"github.com/go-rntuple/go-rntuple/remote/internal/credential"
)

// authorize returns the Signer of a URL with the given user, who may be nil.
func authorize(user *url.Userinfo) Signer {
	return func(r *http.Request) error {
		if user != nil {
			password, _ := user.Password()
			r.SetBasicAuth(user.Username(), password)
			return nil
		}
		if r.URL.Scheme != "https" && !isLoopback(r.URL.Hostname()) {
			return nil
		}
		token, err := credential.Token()
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return err
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
