package https

import (
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-rntuple/go-rntuple/remote/internal/credential"
)

// transports has the connections, which files share: those of one configuration, which the
// environment gives.
var transports = struct {
	sync.Mutex
	all map[credential.Certificates]*http.Transport
}{all: map[credential.Certificates]*http.Transport{}}

// transport returns the connections for the present environment.
func transport() (*http.Transport, error) {
	s := credential.FindCertificates()
	transports.Lock()
	defer transports.Unlock()
	if t := transports.all[s]; t != nil {
		return t, nil
	}
	config, err := s.Config()
	if err != nil {
		return nil, err
	}
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    15 * time.Second,
		ExpectContinueTimeout:  time.Second,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    32,
		IdleConnTimeout:        90 * time.Second,
		DisableCompression:     true,
		ReadBufferSize:         64 << 10,
		MaxResponseHeaderBytes: 1 << 20,
		// a connection that is dead is not used again
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}
	transports.all[s] = t
	return t, nil
}

// users counts the files that are open: without one, no connection is kept.
var users counter

type counter struct {
	sync.Mutex
	n int
}

func (c *counter) add(n int) {
	c.Lock()
	defer c.Unlock()
	if c.n += n; c.n > 0 {
		return
	}
	transports.Lock()
	defer transports.Unlock()
	for _, t := range transports.all {
		t.CloseIdleConnections()
	}
}
