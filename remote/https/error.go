package https

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"strings"

	"github.com/go-rntuple/go-rntuple/remote"
)

// A malformed is an error of a server whose response is not as it should be.
type malformed string

func (m malformed) Error() string { return string(m) }

// A refused is the error of a request that was not made.
type refused string

func (r refused) Error() string { return string(r) }

// passing returns the error of a connection, without what may be secret. Most may pass: lines are
// cut, and servers start anew.
func passing(err error) error {
	if named, ok := errors.AsType[*url.Error](err); ok { // shows the URL
		err = named.Err
	}
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case strings.HasPrefix(err.Error(), "failed to parse Location header"): // shows it
		return malformed("the server redirects to what is not a URL")
	case errors.As(err, new(textproto.ProtocolError)): // shows it, too
		return &remote.Temporary{Err: malformed("the server sends a header that is none")}
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case errors.As(err, new(refused)), errors.As(err, new(*tls.CertificateVerificationError)),
		errors.As(err, new(tls.RecordHeaderError)), errors.As(err, &dns) && dns.IsNotFound,
		errors.As(err, &op) && op.Op == "remote error": // of TLS: the server does not like the client's certificate
		return err
	}
	return &remote.Temporary{Err: err}
}
