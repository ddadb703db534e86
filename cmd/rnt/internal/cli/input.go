package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/terminal"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// StdinName is what messages call standard input.
const StdinName = "standard input"

// maxSpooled is the most bytes of standard input that are put into a temporary
// file.
const maxSpooled = 64 << 30

// Shown returns how results name the file of an argument.
func Shown(arg string) string {
	if arg == "-" {
		return StdinName
	}
	return remote.Redact(arg)
}

// An Input finds the files that arguments name, and says how they are read.
type Input struct {
	stdin     io.Reader
	report    *Reporter
	look      func() // looks for signals and, after one, cancels the context; may be nil
	remote    remoteFlags
	maxMemory Bytes  // 0: a default that depends on the file
	spooled   string // the path of the temporary file with what standard input held
	temporaries
}

// close removes temporary files.
func (in *Input) close() {
	if in.remote.options.Pool != nil {
		in.remote.options.Pool.Close()
	}
	in.temporaries.remove()
}

// Remote returns the options for files whose names are URLs.
func (in *Input) Remote() remote.Options { return in.remote.options }

// Limits returns the limits that --max-memory sets: all of them to its value.
func (in *Input) Limits() rntuple.Limits {
	n := int64(in.maxMemory)
	return rntuple.Limits{PageBytes: n, EntryBytes: n, EnvelopeBytes: n, ExpressionBytes: n}
}

// Options returns the options with which all commands open RNTuples.
func (in *Input) Options(ctx context.Context) *rntuple.ReadOptions {
	opts := &rntuple.ReadOptions{Context: ctx, Limits: in.Limits(), Remote: in.Remote()}
	if in.remote.zones {
		opts.ZoneMaps = rntuple.TrustAll
	}
	return opts
}

// TrustZones has zone maps of files that are far away used, as --zones does.
func (in *Input) TrustZones() { in.remote.zones = true }

// IsSpooled reports whether standard input is among the files.
func (in *Input) IsSpooled() bool { return in.spooled != "" }

// Root returns the path of the ROOT file that an argument names. For "-" that is a
// temporary file with everything from standard input, because the parts of an
// RNTuple cannot be read in the order in which they are stored.
func (in *Input) Root(ctx context.Context, arg string) (string, error) {
	return in.path(ctx, arg, true)
}

// File is like Root for files of any kind. Those that are not ROOT files and are far
// away are copied.
func (in *Input) File(ctx context.Context, arg string) (string, error) {
	return in.path(ctx, arg, false)
}

// Roots returns what Root returns for several arguments.
func (in *Input) Roots(ctx context.Context, args []string) ([]string, error) {
	return in.paths(ctx, args, true)
}

// Files returns what File returns for several arguments.
func (in *Input) Files(ctx context.Context, args []string) ([]string, error) {
	return in.paths(ctx, args, false)
}

func (in *Input) paths(ctx context.Context, args []string, root bool) (_ []string, err error) {
	paths := make([]string, len(args))
	for i, arg := range args {
		if paths[i], err = in.path(ctx, arg, root); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

func (in *Input) path(ctx context.Context, arg string, root bool) (string, error) {
	switch at := location.Parse(arg); {
	case at.IsURL() && (root || at.IsObjects()):
		return arg, nil
	case at.IsURL():
		return in.copyOf(ctx, arg)
	case arg != "-":
		return arg, nil
	case in.spooled != "":
		return in.spooled, nil
	case terminal.Is(in.stdin):
		return "", UsageError("standard input is a terminal, not a file")
	}
	from := bufio.NewReader(in.Stdin(ctx))
	if head, err := from.Peek(4); root && !isROOT(head) && (err == nil || errors.Is(err, io.EOF)) {
		return "", fmt.Errorf("%s: not a ROOT file", StdinName)
	}
	f, path, err := in.Temporary()
	if err != nil {
		return "", err
	}
	in.spooled = path
	in.report.Call(path, StdinName)
	n, err := io.Copy(f, io.LimitReader(from, maxSpooled+1))
	if err == nil && n > maxSpooled {
		err = fmt.Errorf("more than %s; save it to a file first", text.Size(maxSpooled))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", StdinName, err)
	}
	return in.spooled, nil
}

// isROOT reports whether a file that begins with head is one of ROOT, or a bare RNTuple.
func isROOT(head []byte) bool { return string(head) == "root" || string(head) == "rntu" }

// copyOf returns the URL of a ROOT file, or the path of a temporary copy of a file of another kind,
// of which all must be read as a rule.
func (in *Input) copyOf(ctx context.Context, name string) (string, error) {
	from, err := remote.Open(ctx, name, new(in.Remote()))
	if err != nil {
		return "", err
	}
	defer from.Close()
	head := make([]byte, 4)
	if n, err := from.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	} else if n == 0 || isROOT(head[:n]) {
		return name, nil
	}
	if from.Len() > maxSpooled {
		return "", fmt.Errorf("%s: more than %s; save it to a file first", from.Name(), text.Size(maxSpooled))
	}
	suffix := ""
	if u, err := url.Parse(name); err == nil {
		suffix = path.Ext(u.Path)
	}
	to, err := in.NamedTemporary(suffix)
	if err != nil {
		return "", err
	}
	in.report.Call(to.Name(), from.Name())
	const step = 8 << 20
	costs := from.Costs()
	err = parallel.Do(costs.Requests, int((from.Len()+step-1)/step), func(i int) error {
		at := int64(i) * step
		b := make([]byte, min(step, from.Len()-at))
		if err := from.ReadRanges(ctx, []remote.Range{{Offset: at, Data: b}}); err != nil {
			return err
		}
		_, err := to.WriteAt(b, at)
		return err
	})
	return to.Name(), err
}

// ReadDocument reads the schema in a JSON file.
func ReadDocument(path string) (*schema.Document, error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := schema.ParseDocument(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return doc, nil
}
