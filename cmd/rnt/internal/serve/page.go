package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/viewer"
)

// maxInPage is the size in bytes of the largest file that a page holds unless told otherwise:
// browsers keep several copies of it.
const maxInPage = 64 << 20

// paging holds the flags of page.
type paging struct {
	serve        bool
	port         int
	out          string
	force        bool
	fields       []string
	name         string
	first, count cli.Entries
	most         cli.Bytes
}

func pageCommand(t *cli.Tool) *cobra.Command {
	p := paging{count: cli.All, most: maxInPage}
	cmd := &cobra.Command{
		Use:   "page FILE -o OUT | page --serve [FILE|FOLDER]...",
		Short: "Show files in a browser: write an HTML page, or serve one",
		Long: `page -o writes the HTML file OUT, which shows the RNTuples in FILE: fields, entries,
storage, records byte by byte, histograms of expressions, and damage. The page is
self-contained: it embeds FILE and can be mailed or put on any web server. --first,
--count, --fields and --name embed only part of one RNTuple.

page --serve serves this page on the local machine. It prints a secret address for each
FILE and for each file in or below FOLDER; only users who know the address can read the
file. It runs until Ctrl-C or SIGTERM. The page reads files of any size in ranges; it
also opens local files, and URLs whose server allows cross-origin requests (CORS).`,
		Example: "  rnt page data.root -o data.html\n" +
			"  rnt page run.root -o run.html --count 1000 --fields 'run,Muon_*'\n" +
			"  rnt page --serve data",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case p.serve:
				return nil
			case len(args) == 0:
				return cli.UsageError("missing argument FILE, or use --serve")
			}
			return cli.FileArgs(1)(nil, args)
		},
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case p.serve && (p.out != "" || p.force || p.cuts()):
				return cli.UsageError(
					"--serve cannot be combined with --out, --force or flags that select part of a file")
			case p.serve && (p.port < 0 || p.port > math.MaxUint16):
				return cli.UsageError("--port must be from 0 to 65535")
			case p.serve:
				return servePage(cmd.Context(), t, args, p.port)
			case p.count == 0:
				return cli.UsageError("--count must be positive")
			case p.out == "":
				return cli.UsageError("missing output file; use -o or --serve")
			case cmd.Flags().Changed("port"):
				return cli.UsageError("--port requires --serve")
			}
			if err := selection.CheckFields(cmd, p.fields); err != nil {
				return err
			}
			return writePage(cmd.Context(), t, args[0], &p)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&p.out, "out", "o", "", "write the HTML file `OUT`; - is standard output")
	f.BoolVar(&p.serve, "serve", false, "serve the page until Ctrl-C")
	f.IntVar(&p.port, "port", 8816, "serve on port `N` of the local machine; 0 selects a free port")
	f.StringVar(&p.name, "name", "", "name of the RNTuple to embed, if there are several")
	selection.FieldsFlag(cmd, &p.fields, "fields to embed", 0)
	cli.CompleteNames(cmd, "name", 0)
	f.Var(&p.first, "first", "first entry to embed, counted from 0")
	f.Var(&p.count, "count", "number of entries to embed (default all)")
	f.Var(&p.most, "max-size", "maximum `SIZE` of the embedded data")
	cli.ForceFlag(cmd, &p.force)
	cmd.MarkFlagFilename("out", "html")
	return cmd
}

// cuts reports whether part of an RNTuple is taken.
func (p *paging) cuts() bool {
	return p.first > 0 || p.count != cli.All || len(p.fields) > 0 || p.name != ""
}

// writePage makes a page that holds a file.
func writePage(ctx context.Context, t *cli.Tool, arg string, p *paging) error {
	if _, err := viewer.Files(); err != nil {
		return err
	}
	path, err := t.Input.Root(ctx, arg)
	if err != nil {
		return err
	}
	if p.out != "-" {
		if err := t.Output.Begin(ctx, p.out, p.force, path); err != nil {
			return err
		}
	}
	from := path
	if p.cuts() {
		folder, err := os.MkdirTemp("", "rnt-page-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		from = filepath.Join(folder, "part.root")
		if err := cutFile(ctx, t, from, path, p); err != nil {
			return fmt.Errorf("%s: %w", cli.Shown(arg), err)
		}
	} else if kind, _ := foreign.Detect(ctx, path, "", t.Input.Remote()); kind != "" && kind != foreign.RNTuple {
		return fmt.Errorf("%s: it is %s, which rnt convert converts to an RNTuple", cli.Shown(arg), kind.Title())
	}
	f, n, err := source.OpenFile(ctx, t, from)
	if err != nil {
		return err
	}
	defer f.Close()
	if n > int64(p.most) {
		return fmt.Errorf(
			"%s: %s exceed the limit of %s for a page; reduce it with --count and --fields, raise the limit with --max-size, or use rnt page --serve", cli.Shown(arg), text.Size(n), text.Size(int64(p.most)))
	}
	name := remote.Base(arg)
	if arg == "-" {
		name = cli.StdinName
	}
	var b bytes.Buffer
	if err := viewer.Write(&b, name, io.NewSectionReader(remote.WithContext(ctx, f), 0, n)); err != nil {
		return err
	}
	if p.out == "-" {
		_, err := t.Out.Write(b.Bytes())
		return err
	}
	if err := t.Output.WriteFile(ctx, p.out, b.Bytes()); err != nil {
		return err
	}
	if !t.Report.Quiet {
		fmt.Fprintf(t.Out, "%s: %s, with %s of data\n", p.out, text.Size(int64(b.Len())), text.Size(n))
	}
	return nil
}

// cutFile makes the file out with part of an RNTuple.
func cutFile(ctx context.Context, t *cli.Tool, out, in string, p *paging) error {
	r, err := rntuple.Open(in, p.name, t.Input.Options(ctx))
	if err != nil {
		return err
	}
	n := r.NumEntries()
	if err := r.Close(); err != nil {
		return err
	}
	piece := surgery.Piece{Input: surgery.Input{Path: in, Name: p.name}, First: int64(p.first), End: n}
	if piece.First > 0 && piece.First >= n {
		return fmt.Errorf("no entry %d: the RNTuple has %d", piece.First, n)
	}
	if left := n - piece.First; int64(p.count) < left {
		piece.End = piece.First + int64(p.count)
	}
	o := &surgery.MergeOptions{Options: surgery.Options{Read: *t.Input.Options(ctx)}, Keep: p.fields}
	_, err = surgery.Concat(ctx, out, []surgery.Piece{piece}, o)
	return err
}
