package xrootd

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/go-rntuple/go-rntuple/remote/internal/credential"
)

// What a server is and wants, as it says before the login.
const (
	flagServer   = 0x00000001
	flagTLSLogin = 0x04000000
	flagTLSLater = 0x08000000 // behind the login
	flagTLSNow   = 0x40000000
)

// An identity is what a connection is made with. Files with the same one share a connection.
type identity struct {
	host, address string
	tls           bool   // demanded
	user          string // from the URL
	login         string // for the login, from the server that has redirected here
	token         string // a bearer token for this host
	noToken       string // why there is none
	certificates  credential.Certificates
}

// dialTimeout limits the time that a connection may take.
const dialTimeout = 15 * time.Second

// dial connects to a server, logs in, and makes a first request. If that could not be made at once,
// the call is nil.
func dial(ctx context.Context, id identity, first *request, p *progress) (*conn, *call, error) {
	c, k, err := dialWith(ctx, id, first, p)
	if errors.Is(err, errEarly) {
		c, _, err = dialWith(ctx, id, nil, p)
	}
	return c, k, err
}

// errEarly says that a server, which wants to know who the user is, does not like that requests
// come before.
var errEarly = errors.New("the connection has ended because of a request before the authentication")

// dialWith is dial without a second try. The request may be nil.
func dialWith(ctx context.Context, id identity, first *request, p *progress) (*conn, *call, error) {
	d := net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	n, err := d.DialContext(ctx, "tcp", id.address)
	if err != nil {
		return nil, nil, cmp.Or(context.Cause(ctx), err)
	}
	p.arrived(0)
	s := &session{identity: id, net: n, progress: p, first: first}
	stop := context.AfterFunc(ctx, func() { n.Close() })
	err = s.begin(ctx)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		n.Close()
		return nil, nil, err
	}
	c, k := newConn(s.net, n, s.flags&flagServer != 0, s.sent, p)
	if k != nil && s.asked { // the answer is of no use
		k.giveUp()
		k = nil
	}
	return c, k, nil
}

// A session is a connection until the user has logged in: one request at a time, except that the
// first one for a file goes with the login, unless there is TLS. It takes effect if no
// authentication is asked for.
type session struct {
	identity
	net      net.Conn
	secure   bool
	flags    uint32
	progress *progress
	first    *request // nil: none
	sent     bool     // first, and there is no answer yet
	asked    bool     // for authentication
}

// begin shakes hands and logs in.
func (s *session) begin(ctx context.Context) error {
	if _, err := s.net.Write(protocolRequest(s.tls).append(handshake[:len(handshake):len(handshake)],
		stream)); err != nil {
		return err
	}
	if a, err := s.answer(0); err != nil {
		return err
	} else if a.status != statusOK || len(a.body) != 8 {
		return violation("the handshake is answered with the status %d and %d bytes", a.status, len(a.body))
	}
	a, err := s.answer(stream)
	if err == nil {
		err = a.err()
	}
	if err != nil {
		return err
	}
	if len(a.body) < 8 {
		return violation("the version is told in %d bytes, want 8", len(a.body))
	}
	s.flags = binary.BigEndian.Uint32(a.body[4:])
	if s.flags&(flagTLSNow|flagTLSLogin) != 0 {
		if err := s.encrypt(ctx); err != nil {
			return err
		}
	} else if s.tls {
		return errors.New("the server has no TLS, which is demanded")
	}
	login := loginRequest(os.Getpid(), cmp.Or(s.user, userName()), s.login)
	if s.flags&(flagTLSNow|flagTLSLogin|flagTLSLater) != 0 {
		s.first = nil
	}
	if s.first != nil {
		s.sent = true
		if _, err := s.net.Write(s.first.append(login.append(nil, stream), firstStream)); err != nil {
			return err
		}
		a, err = s.answer(stream)
		if err == nil && a.status == statusWait {
			err = errEarly
		} else if err == nil {
			err = a.err()
		}
	} else {
		a, err = s.ask(ctx, login)
	}
	if err != nil {
		return err
	}
	const id = 16 // of the session; servers may omit it
	if n := len(a.body); n > 0 && n < id {
		return violation("the login is answered with %d bytes, want 16 or more", n)
	}
	if len(a.body) > id && a.body[id] != 0 {
		s.asked = true
		if err := s.authenticate(ctx, cString(a.body[id:])); err != nil {
			return err
		}
	}
	if s.flags&flagTLSLater != 0 && !s.secure {
		return s.encrypt(ctx)
	}
	return nil
}

// encrypt makes the connection one of TLS.
func (s *session) encrypt(ctx context.Context) error {
	config, err := s.certificates.Config()
	if err != nil {
		return err
	}
	config.ServerName = s.host
	c := tls.Client(s.net, config)
	if err := c.HandshakeContext(ctx); err != nil {
		return err
	}
	s.net, s.secure = c, true
	return nil
}

// stream is the number of all requests of a session but first. The answer to the handshake has 0.
const stream, firstStream = 1, 2

// answer reads the answer to a request, but not what the server says without being asked.
func (s *session) answer(stream uint16) (answer, error) {
	for {
		h, err := readHeader(s.net)
		if err != nil {
			return answer{}, err
		}
		early := s.sent && h.stream == firstStream
		if h.stream != stream && !early {
			return answer{}, violation("an answer to no request, %d", h.stream)
		}
		if h.size > maxMessage {
			return answer{}, violation("an answer without bytes of the file has %d", h.size)
		}
		a := answer{status: h.status, body: make([]byte, h.size)}
		if _, err := io.ReadFull(s.net, a.body); err != nil {
			return answer{}, noEOF(err)
		}
		switch {
		case a.status == statusWaitResp:
		case early: // it will be made again
			s.sent = false
		default:
			return a, nil
		}
	}
}

// ask makes a request, again if the server asks to wait.
func (s *session) ask(ctx context.Context, r *request) (answer, error) {
	return s.progress.repeat(ctx, r, func() (answer, error) {
		if _, err := s.net.Write(r.append(nil, stream)); err != nil {
			return answer{}, err
		}
		return s.answer(stream)
	})
}

// authenticate proves who the user is, by the first way that the server proposes and that is
// possible: "&P=ztn,0:4096:&P=unix".
func (s *session) authenticate(ctx context.Context, proposed string) error {
	var failed []error
	for _, way := range strings.Split(proposed, "&P=")[1:] {
		name, _, _ := strings.Cut(strings.TrimRight(way, "&"), ",")
		data, err := s.credentials(name)
		if err == nil {
			if _, err = s.ask(ctx, authRequest(name, data)); err == nil {
				return nil
			}
			refused, ok := errors.AsType[*serverError](err)
			if !ok { // the connection is of no use any more
				if s.first != nil && ctx.Err() == nil {
					return errEarly
				}
				return err
			}
			if s.token != "" {
				refused.text = strings.ReplaceAll(refused.text, s.token, "…")
			}
		}
		failed = append(failed, fmt.Errorf("%.20q: %w", name, err))
	}
	if failed == nil {
		return violation("the ways of authentication are %.200q", proposed)
	}
	return fmt.Errorf("%w: authentication: %w", fs.ErrPermission, errors.Join(failed...))
}

// credentials returns the credentials for a way of authentication.
func (s *session) credentials(way string) ([]byte, error) {
	switch way {
	case "ztn":
		switch {
		case s.token == "":
			return nil, errors.New(s.noToken)
		case !s.secure:
			return nil, errors.New("a bearer token goes over TLS only: the URL must begin with roots://")
		case len(s.token) >= 0xffff:
			return nil, fmt.Errorf("the token has %d bytes, more than 65534", len(s.token))
		}
		b := []byte{'z', 't', 'n', 0, 0, 'T', 0, 0}
		b = binary.BigEndian.AppendUint16(b, uint16(len(s.token)+1))
		return append(append(b, s.token...), 0), nil
	case "unix":
		return []byte("unix\x00" + cmp.Or(s.user, userName()) + " " + groupName() + "\x00"), nil
	case "host":
		return []byte("host\x00"), nil
	}
	return nil, errors.New("not supported")
}

// userName returns the name of the user of this process.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "nobody"
	}
	return u.Username[strings.LastIndex(u.Username, `\`)+1:]
}

// groupName returns the name of the user's group.
func groupName() string {
	if u, err := user.Current(); err == nil {
		if g, err := user.LookupGroupId(u.Gid); err == nil {
			return g.Name
		}
	}
	return "nogroup"
}

// repeat makes a request with once, again while the server asks to wait, and returns the answer, or
// its error.
func (p *progress) repeat(ctx context.Context, r *request, once func() (answer, error)) (answer, error) {
	for {
		p.what = "answer " + kinds[r.number]
		a, err := once()
		if err != nil {
			return a, err
		}
		if a.status != statusWait {
			return a, a.err()
		}
		if err := p.wait(ctx, r, a); err != nil {
			return a, err
		}
	}
}

// wait waits for as long as an answer says before a request is made again.
func (p *progress) wait(ctx context.Context, r *request, a answer) error {
	const least = 100 * time.Millisecond
	d, err := parseWait(a.body)
	if err != nil {
		return err
	}
	if d > p.maxWait {
		return fmt.Errorf("%s asks to wait for %v before %s, longer than %v", p.server, d, kinds[r.number], p.maxWait)
	}
	p.what = "be ready for " + kinds[r.number]
	return p.sleep(ctx, max(d, least))
}
