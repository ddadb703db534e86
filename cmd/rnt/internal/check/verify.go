package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
	"github.com/go-rntuple/go-rntuple/schema"
)

func verifyCommand(t *cli.Tool) *cobra.Command {
	var asJSON bool
	limit := 20
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check files for damage",
		Long: `verify checks all RNTuples in files, including older cycles and attribute sets, and the
ROOT files around them: records, anchors, envelopes and checksums, the schema, clusters,
every page, and values that refer to others.

It prints a line for each problem, with its location and file offset, then a line for
the file. What is reported as unsupported may be valid in a newer version of the format.
An oddity is not a problem: it is unusual but harmless, such as unused bytes that uproot
leaves in lists of keys. With --json, every line is a JSON object with a "severity",
damage or oddity. With --quiet, oddities and files without problems are not printed. The
exit status is 1 if any file has a problem.`,
		Args:              cli.FileArgs(cli.AnyNumber),
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit <= 0 {
				return cli.UsageError("--limit must be positive")
			}
			return verifyFiles(cmd.Context(), t, args, limit, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	cmd.Flags().IntVar(&limit, "limit", limit, "print at most `N` problems of each kind per RNTuple")
	return cmd
}

// verifyFiles checks files, and at the end reports how many have problems.
func verifyFiles(ctx context.Context, t *cli.Tool, args []string, limit int, asJSON bool) error {
	bad := 0
	var errs []error
	for _, arg := range args {
		problems, err := verifyFile(ctx, t, arg, limit, asJSON)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			errs = append(errs, err)
		case problems > 0:
			bad++
		}
		if err := t.Out.Flush(); err != nil {
			return err
		}
	}
	switch {
	case bad == 1:
		errs = append(errs, fmt.Errorf("1 of %s has problems", text.Plural(len(args), "file")))
	case bad > 1:
		errs = append(errs, fmt.Errorf("%d of %s have problems", bad, text.Plural(len(args), "file")))
	}
	return errors.Join(errs...)
}

// verifyFile checks a file and returns how many problems it has.
func verifyFile(ctx context.Context, t *cli.Tool, arg string, limit int, asJSON bool) (problems int64, err error) {
	path, err := t.Input.Root(ctx, arg)
	if err != nil {
		return 0, err
	}
	lines := json.NewEncoder(t.Out)
	lines.SetEscapeHTML(false)
	bar := t.Report.ByteBar()
	s, err := verify.File(ctx, path, func(p verify.Problem) error {
		odd := p.Severity == verify.Oddity
		if odd && t.Report.Quiet && !asJSON {
			return nil
		}
		bar.Done() // it would be in the way of the line
		p.File = cli.Shown(arg)
		if asJSON {
			err = lines.Encode(problemOf(p))
		} else {
			kind := ""
			if odd {
				kind = "oddity: "
			}
			_, err = fmt.Fprintln(t.Out, schema.Printable(cli.WithAdvice(fmt.Sprintf("%s: %s%v", p.File, kind, p))))
		}
		return errors.Join(err, t.Out.Flush())
	}, &verify.Options{MaxProblems: limit, Limits: t.Input.Limits(), Remote: t.Input.Remote(), Progress: bar.Set})
	bar.Done()
	switch {
	case err != nil:
		return 0, err
	case asJSON:
		return s.Problems, lines.Encode(verifiedOf(cli.Shown(arg), s))
	case t.Report.Quiet && s.Problems == 0:
		return 0, nil
	}
	return s.Problems, printVerified(t, cli.Shown(arg), s)
}

func printVerified(t *cli.Tool, path string, s *verify.Summary) error {
	verdict := "ok"
	if s.Problems > 0 {
		verdict = text.Plural(int(s.Problems), "problem")
	}
	if s.Oddities == 1 {
		verdict += ", 1 oddity"
	} else if s.Oddities > 1 {
		verdict += fmt.Sprintf(", %d oddities", s.Oddities)
	}
	line := fmt.Sprintf("%s: %s: %s, %s, %s, %s, %s checked", path, verdict,
		text.Plural(s.RNTuples, "RNTuple"), text.Plural(s.Envelopes, "envelope"), text.Plural(s.Clusters, "cluster"),
		text.Plural(int(s.Pages), "page"), text.Size(s.Bytes))
	if s.Unsummed > 0 {
		line += fmt.Sprintf("; %s without checksum", text.Plural(int(s.Unsummed), "page"))
	}
	if len(s.Skipped) > 0 {
		line += "; not checked: " + strings.Join(s.Skipped, "; ")
	}
	_, err := fmt.Fprintln(t.Out, schema.Printable(line))
	return err
}

// A verifyProblem is what `rnt verify --json` prints about a problem.
type verifyProblem struct {
	File     string          `json:"file"`
	Severity verify.Severity `json:"severity"`
	RNTuple  string          `json:"rntuple,omitempty"` // absent if it is the file around it
	Check    verify.Check    `json:"check"`
	Path     string          `json:"path"` // in words
	Cluster  *int            `json:"cluster,omitempty"`
	Column   *int            `json:"column,omitempty"`
	Field    string          `json:"field,omitempty"`
	Page     *int            `json:"page,omitempty"`
	Offset   *int64          `json:"offset,omitempty"` // in the file
	Kind     string          `json:"kind"`             // oddity, corrupt, checksum, range, unsupported or read error
	Error    string          `json:"error"`
}

func problemOf(p verify.Problem) verifyProblem {
	return verifyProblem{
		File: p.File, Severity: p.Severity, RNTuple: p.RNTuple, Check: p.Check, Path: p.Path(), Field: p.Field,
		Kind: p.Kind(), Error: cli.WithAdvice(p.Err.Error()),
		Cluster: known(p.Cluster), Column: known(p.Column), Page: known(p.Page), Offset: known(p.Offset),
	}
}

// known returns nil for a negative number.
func known[T int | int64](n T) *T {
	if n < 0 {
		return nil
	}
	return &n
}

// verified is what `rnt verify --json` prints about a file, after its problems.
type verified struct {
	File      string   `json:"file"`
	Problems  int64    `json:"problems"`
	Oddities  int64    `json:"oddities"` // not among the problems
	RNTuples  int      `json:"rntuples"`
	Records   int      `json:"records"`
	Envelopes int      `json:"envelopes"`
	Clusters  int      `json:"clusters"`
	Pages     int64    `json:"pages"`
	Bytes     int64    `json:"bytes"` // of envelopes and pages
	Unsummed  int64    `json:"pages_without_checksum"`
	Skipped   []string `json:"not_checked"`
}

func verifiedOf(path string, s *verify.Summary) verified {
	return verified{
		File: path, Problems: s.Problems, Oddities: s.Oddities, RNTuples: s.RNTuples, Records: s.Records,
		Envelopes: s.Envelopes, Clusters: s.Clusters,
		Pages: s.Pages, Bytes: s.Bytes, Unsummed: s.Unsummed, Skipped: append([]string{}, s.Skipped...),
	}
}
