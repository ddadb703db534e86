package rntflight

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// Options say what a Server serves, and to whom. The zero value of all but Folder is a default.
type Options struct {
	// Folder is the folder whose files are served.
	Folder string
	// Tokens are the bearer tokens of which each request must carry one, of MinToken bytes at
	// least. Empty: requests need none.
	Tokens []string
	// TLS is the configuration of TLS for Serve, with a certificate at least. Nil: no TLS.
	TLS *tls.Config
	// MaxStreams is the number of streams that are sent at a time. 0: 16.
	MaxStreams int
	// BatchBytes is the size of a record batch to aim at. 0: 1 MiB, which is below the size of
	// messages, 4 MiB, that some clients accept by default.
	BatchBytes int64
	// Timeout is how long a client may take to accept a record batch, and how long a stream
	// waits for its turn. 0: a minute.
	Timeout time.Duration
	// MaxTime is how long a stream may last in all, and any other request. 0: an hour.
	MaxTime time.Duration
	// Limits bound the memory that a file can demand. A member that is 0 stands for the default
	// of rntuple.Limits, but 64 MiB at most, and 32 MiB for ExpressionBytes.
	Limits rntuple.Limits
	// Log gets a line for each request. Nil: none.
	Log *slog.Logger
}

// MinToken is the number of bytes that a token has at least.
const MinToken = 16

const (
	maxRequest     = 64 << 10 // bytes of a request
	maxConnections = 256
	queued         = 16 // streams that wait for each one that is sent
)

// A Server is a flight.FlightServer of the files below a folder. It is safe for concurrent use.
type Server struct {
	flight.BaseFlightServer
	options Options
	root    *os.Root
	tokens  [][sha256.Size]byte
	streams *turns
	lookups *turns
	stalled *stalled
	running sync.WaitGroup
}

// New returns a Server. It can be registered with a grpc.Server by
// flight.RegisterFlightServiceServer, whose options then decide about addresses, TLS and the
// sizes of messages; Serve does so with safe ones. The caller must close the Server.
func New(options *Options) (*Server, error) {
	var o Options
	if options != nil {
		o = *options
	}
	switch {
	case o.Folder == "":
		return nil, errors.New("rntflight: which folder?")
	case o.MaxStreams < 0 || o.BatchBytes < 0 || o.Timeout < 0 || o.MaxTime < 0:
		return nil, errors.New("rntflight: a limit is negative")
	}
	o.MaxStreams = cmp.Or(o.MaxStreams, 16)
	o.BatchBytes = cmp.Or(o.BatchBytes, 1<<20)
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	o.MaxTime = cmp.Or(o.MaxTime, time.Hour)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Server{options: o, streams: newTurns(o.MaxStreams, "streams"), lookups: newTurns(o.MaxStreams, "requests"),
		stalled: &stalled{most: o.MaxStreams}}
	for i, token := range o.Tokens {
		if len(token) < MinToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("rntflight: token %d does not consist of at least %d printable ASCII characters", i+1,
				MinToken)
		}
		s.tokens = append(s.tokens, sha256.Sum256([]byte(token)))
	}
	var err error
	s.root, err = os.OpenRoot(o.Folder)
	return s, err
}

// Close lets go of the folder. Requests fail from then on.
func (s *Server) Close() error { return s.root.Close() }

// Listen listens at a TCP address, such as "127.0.0.1:8815", for Serve. The error is
// an *OpenError if Serve would refuse the address.
func (s *Server) Listen(address string) (net.Listener, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if err := s.allow(a); err != nil {
		return nil, err
	}
	return net.ListenTCP("tcp", a)
}

// An OpenError says that a server at an address other than loopback has no TLS or no tokens.
type OpenError struct{ Addr net.Addr }

func (e *OpenError) Error() string {
	return fmt.Sprintf("%s can be reached from other machines, which needs TLS and tokens", e.Addr)
}

// allow returns an error if the options are too lax for an address.
func (s *Server) allow(a net.Addr) error {
	if local(a) || s.options.TLS != nil && len(s.tokens) > 0 {
		return nil
	}
	return &OpenError{a}
}

// Serve serves requests on l, which it closes, until ctx is done. It then ends all streams, waits
// until nothing of them is left, and returns nil. It fails at once, with an *OpenError, if
// l is neither on loopback nor a Unix socket, and Options has no TLS or no tokens.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if err := s.allow(l.Addr()); err != nil {
		l.Close()
		return err
	}
	opts := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxRequest),
		grpc.MaxHeaderListSize(16 << 10),
		grpc.MaxConcurrentStreams(uint32(4 * s.options.MaxStreams)),
		grpc.ConnectionTimeout(20 * time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: 10 * time.Minute, Time: time.Minute,
			Timeout: 20 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.WaitForHandlers(true),
	}
	if s.options.TLS != nil {
		opts = append(opts, grpc.Creds(credentials.NewTLS(s.options.TLS)))
	}
	g := grpc.NewServer(opts...)
	flight.RegisterFlightServiceServer(g, s)
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		g.Stop()
		close(stopped)
	})
	err := g.Serve(listener{netutil.LimitListener(l, maxConnections), s.stalled})
	if !stop() {
		<-stopped
		err = nil
	}
	s.running.Wait()
	return err
}

// local reports whether only programs of this machine reach an address.
func local(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// authenticate checks the token of a request.
func (s *Server) authenticate(ctx context.Context) error {
	if len(s.tokens) == 0 {
		return nil
	}
	headers := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(headers) == 1 {
		scheme, token, _ := strings.Cut(headers[0], " ")
		sum, found := sha256.Sum256([]byte(token)), 0
		for i := range s.tokens {
			found |= subtle.ConstantTimeCompare(sum[:], s.tokens[i][:])
		}
		if strings.EqualFold(scheme, "bearer") && found == 1 {
			return nil
		}
	}
	return status.Error(codes.Unauthenticated, `the header "authorization" has no valid token; it must be "Bearer TOKEN"`)
}

// Handshake refuses: tokens come with each request instead.
func (s *Server) Handshake(flight.FlightService_HandshakeServer) error {
	return status.Error(codes.Unimplemented,
		`there is no handshake; requests carry a token in the header "authorization: Bearer TOKEN"`)
}
