package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/bridge/rntarrow/rntflight"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
)

func serveCommand(t *cli.Tool) *cobra.Command {
	var o rntflight.Options
	var listen, cert, key, tokens string
	cmd := &cobra.Command{
		Use:   "serve FOLDER",
		Short: "Serve the RNTuples in a folder as Arrow Flight streams",
		Long: `serve serves the RNTuples in the files below FOLDER over the network with Arrow Flight,
for Python with pyarrow, Spark, Dask and others. It prints its address, logs each
request to standard error, and runs until Ctrl-C or SIGTERM.

  import json, pyarrow.flight as fl
  client = fl.connect("grpc://127.0.0.1:8815")
  query = {"file": "2024/run1.root", "ntuple": "Events",
           "fields": ["run", "Muon_*"], "where": "nMuon == 2"}
  table = client.do_get(fl.Ticket(json.dumps(query))).read_all()

Only "file", the path relative to FOLDER, is required. "first" and "end" select a range
of entries; "lists32" and "structs" produce lists with 32-bit offsets, and structs
instead of unions, for clients that need them. "rnt help expressions" describes the
language of "where".

  for f in client.list_flights(): print(f.descriptor.path, f.total_records)
  what = fl.FlightDescriptor.for_command(json.dumps(query))
  for endpoint in client.get_flight_info(what).endpoints:  # in parallel, if you like
      table = client.do_get(endpoint.ticket).read_all()

The service is read-only, and paths and links cannot leave FOLDER. By default only local
clients can connect; --listen with any other address requires TLS and tokens. Clients
then send one of the tokens, lines of at least 16 characters, in the header
"authorization". The token file must be owned by you, accessible to no one else (chmod
600), and not a link:

  client = fl.connect("grpc+tls://data.example.org:8815", tls_root_certs=ca)
  options = fl.FlightCallOptions(headers=[(b"authorization", b"Bearer " + token)])
  client.do_get(ticket, options)

At most --max-streams streams are sent at a time; others are queued.`,
		Example: "  rnt serve data\n" +
			"  rnt serve data --listen :8815 --tls-cert cert.pem --tls-key key.pem --token-file tokens",
		Args: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return cli.UsageError("missing argument FOLDER")
			case 1:
				return nil
			}
			return cli.UsageError("unexpected arguments: " + strings.Join(args[1:], " "))
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o.Folder, o.Limits = args[0], t.Input.Limits()
			switch {
			case (cert == "") != (key == ""):
				return cli.UsageError("--tls-cert and --tls-key must be used together")
			case o.MaxStreams < 1:
				return cli.UsageError("--max-streams must be positive")
			case o.Timeout <= 0 || o.MaxTime <= 0:
				return cli.UsageError("--timeout and --max-time must be positive")
			}
			if cert != "" {
				pair, err := tls.LoadX509KeyPair(cert, key)
				if err != nil {
					return err
				}
				o.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
			}
			if tokens != "" {
				if o.Tokens, err = readTokens(tokens); err != nil {
					return err
				}
			}
			if !t.Report.Quiet {
				o.Log = slog.New(slog.NewTextHandler(t.Stderr, nil))
			}
			return serveFlight(cmd.Context(), t, o, listen)
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8815", "serve at this `ADDRESS`; port 0 selects a free port")
	f.StringVar(&cert, "tls-cert", "", "`FILE` with the certificate and its chain, in PEM format")
	f.StringVar(&key, "tls-key", "", "`FILE` with the private key, in PEM format")
	f.StringVar(&tokens, "token-file", "", "`FILE` with tokens, one per line; clients must send one of them")
	f.IntVar(&o.MaxStreams, "max-streams", 16, "send at most `N` streams at a time")
	f.DurationVar(&o.Timeout, "timeout", time.Minute, "end a stream if its client receives no data for `D`")
	f.DurationVar(&o.MaxTime, "max-time", time.Hour, "end a stream after `D`")
	return cmd
}

// readTokens returns the lines of a file that are neither empty nor begin with #.
func readTokens(path string) (tokens []string, err error) {
	text, err := regular.ReadPrivate(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			tokens = append(tokens, line)
		}
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("%s: contains no tokens", path)
	}
	return tokens, nil
}

// serveFlight serves a folder until the context is done.
func serveFlight(ctx context.Context, t *cli.Tool, o rntflight.Options, listen string) error {
	s, err := rntflight.New(&o)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := s.Listen(listen)
	if open := new(rntflight.OpenError); errors.As(err, &open) {
		return cli.UsageError(open.Error() + ": --tls-cert, --tls-key and --token-file")
	}
	if err != nil {
		return err
	}
	scheme := "grpc"
	if o.TLS != nil {
		scheme = "grpc+tls"
	}
	fmt.Fprintf(t.Out, "serving %s at %s://%s\n", o.Folder, scheme, l.Addr())
	if err := t.Out.Flush(); err != nil {
		l.Close()
		return err
	}
	if err := s.Serve(ctx, l); err != nil {
		return err
	}
	return context.Cause(ctx)
}
