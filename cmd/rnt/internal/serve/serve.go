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
		Short: "Serve the RNTuples below a folder as Arrow Flight streams",
		Long: `serve lets programs read the RNTuples in the files below FOLDER over a network, with
Arrow Flight: Python with pyarrow, Spark, Dask and others. It prints its address and a
line on standard error for each request, and runs until Ctrl-C or SIGTERM.

  import json, pyarrow.flight as fl
  client = fl.connect("grpc://127.0.0.1:8815")
  query = {"file": "2024/run1.root", "ntuple": "Events",
           "fields": ["run", "Muon_*"], "where": "nMuon == 2"}
  table = client.do_get(fl.Ticket(json.dumps(query))).read_all()

Only "file", the path below FOLDER, is needed. "first" and "end" are a range of entries,
"lists32" and "structs" make lists with 32-bit offsets, and structs of variants, for
programs that know no others. "rnt help expressions" tells the language of "where".

  for f in client.list_flights(): print(f.descriptor.path, f.total_records)
  what = fl.FlightDescriptor.for_command(json.dumps(query))
  for endpoint in client.get_flight_info(what).endpoints:  # in parallel, if you like
      table = client.do_get(endpoint.ticket).read_all()

Nothing can be written, and no path or link leads out of FOLDER. Other machines reach
the server only if --listen says so; that needs TLS and tokens. Clients then send one of
the tokens, lines of at least 16 characters, in the header "authorization". Their file
must be yours, no link, and closed to others (chmod 600):

  client = fl.connect("grpc+tls://data.example.org:8815", tls_root_certs=ca)
  options = fl.FlightCallOptions(headers=[(b"authorization", b"Bearer " + token)])
  client.do_get(ticket, options)

At most --max-streams streams are sent at a time, the others wait for their turn.`,
		Example: "  rnt serve data\n" +
			"  rnt serve data --listen :8815 --tls-cert cert.pem --tls-key key.pem --token-file tokens",
		Args: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return cli.UsageError("which folder?")
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
				return cli.UsageError("--tls-cert and --tls-key belong together")
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
	f.StringVar(&listen, "listen", "127.0.0.1:8815", "serve at this `ADDRESS`; port 0 is any that is free")
	f.StringVar(&cert, "tls-cert", "", "`FILE` with the certificate, as PEM, and those that lead to its authority")
	f.StringVar(&key, "tls-key", "", "`FILE` with the key of the certificate, as PEM")
	f.StringVar(&tokens, "token-file", "", "`FILE` with tokens, one a line, of which clients must send one")
	f.IntVar(&o.MaxStreams, "max-streams", 16, "send at most `N` streams at a time")
	f.DurationVar(&o.Timeout, "timeout", time.Minute, "end the stream of a client that takes no data for `D`")
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
		return nil, fmt.Errorf("%s: no tokens", path)
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
