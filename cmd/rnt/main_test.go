package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/compress"
)

const (
	dimuon  = "../../testdata/dimuon.root"
	special = "../../testdata/good/special_"
	shared  = "../../../shared/testdata"
)

const (
	exitOK      = cli.ExitOK
	exitError   = cli.ExitError
	exitUsage   = cli.ExitUsage
	exitSkipped = cli.ExitSkipped
	exitSignal  = cli.ExitSignal
)

var tool = clitest.Tool(families)

// rnt runs the tool, which must succeed, and returns what it prints.
func rnt(t *testing.T, args ...string) string {
	t.Helper()
	return tool.RNT(t, args...)
}

func try(args ...string) (stdout, stderr string, status int) { return tool.Try(args...) }

// decode runs the tool and decodes the JSON that it prints.
func decode[T any](t *testing.T, args ...string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(rnt(t, args...)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// A report has members of the JSON that commands print about what they have made.
type report struct {
	Name, Path          string
	Inputs, Units       int
	Files               int
	Entries, First, End int64
	InputEntries        int64 `json:"input_entries"`
	Least               int64 `json:"least_cost"`
	Most                int64 `json:"most_cost"`
	Zoned               int64 `json:"zoned_clusters"`
	Passed              int64 `json:"passed_clusters"`
	Levels              []struct{ Level string }
	Omitted             []string
	Skipped             []source.BadFile
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	clitest.Compare(t, got, want)
}

func TestErrors(t *testing.T) {
	cases := []struct {
		args   string
		status int
		stderr string // the line of the error; what the library says of a file, only in part
	}{
		{"lss x", 2, `rnt: unknown command "lss"; did you mean "ls"?`},
		{"frobnicate", 2, `rnt: unknown command "frobnicate"`},
		{"--frob", 2, "rnt: unknown flag: --frob"},
		{"ls", 2, "rnt: missing argument FILE"},
		{"schema a b c", 2, "rnt: unexpected arguments: c"},
		{"cat a b c", 2, "rnt: unexpected arguments: c"},
		{"cat --frob a", 2, "rnt: unknown flag: --frob"},
		{"ls --fields x a", 2, "rnt: unknown flag: --fields"},
		{"cat a --first -1", 2, `rnt: invalid argument "-1" for "--first" flag: want a number of entries, 0 or more`},
		{"cat a --count many", 2, `rnt: invalid argument "many" for "--count" flag: want a number of entries, 0 or more`},
		{"cat a --count", 2, "rnt: flag needs an argument: --count"},
		{"cat a --fields=", 2, "rnt: --fields: no fields given"},
		{"cat a --fields=x,,y", 2, "rnt: --fields: empty name"},
		{"cat a --fields=x,y --fields x", 2, `rnt: --fields: "x" given twice`},
		{"head a --first 1", 2, "rnt: unknown flag: --first"},
		{"help nothing", 2, `rnt: no help topic "nothing"`},
		{"help schem", 2, `rnt: no help topic "schem"; did you mean "schema"?`},
		{"help completion nosh", 2, `rnt: no help topic "completion nosh"`},
		{"help cat x", 2, `rnt: no help topic "cat x"`},
		{"tail -f data.root", 2, "rnt: missing argument FILE; -f is --fields, use -F to follow a file"},
		{"version x", 2, `rnt: unknown command "x" for "rnt version"`},
		{"completion", 2, "rnt: missing argument SHELL: bash, fish, powershell or zsh"},
		{"completion nosh", 2, `rnt: unknown command "nosh" for "rnt completion"`},

		{"ls missing.root", 1, "rnt: open missing.root: no such file or directory"},
		{"cat missing.root", 1, "rnt: open missing.root: no such file or directory"},
		{"ls .", 1, "rnt: .: is a directory"},
		{"ls main.go", 1, "unknown format; want ROOT, Parquet, Arrow, CSV or JSON Lines"},
		{"stat main.go", 1, "not a ROOT file"},
		{"schema " + dimuon + " Nope", 1, "not found"},
		{"cat " + dimuon + " --fields run,Muon_px", 1, `no field "Muon_px"`},
	}
	for _, c := range cases {
		stdout, stderr, status := try(strings.Fields(c.args)...)
		first, rest, _ := strings.Cut(stderr, "\n")
		said := first == c.stderr || status == exitError && strings.HasPrefix(first, "rnt: ") &&
			strings.Contains(first, ": "+c.stderr)
		if status != c.status || !said || stdout != "" {
			t.Errorf("rnt %s: status %d, %q, output %q; want status %d, %q", c.args, status, first, stdout, c.status, c.stderr)
		}
		if hint := strings.HasPrefix(rest, "usage: rnt "); hint != (c.status == exitUsage) || !hint && rest != "" {
			t.Errorf("rnt %s: after the error comes %q", c.args, rest)
		}
	}
}

// Each flag of each command either collects the values that it is given, or refuses a second one.
func TestRepeatedFlags(t *testing.T) {
	type flag struct {
		command    []string
		name, kind string
	}
	var all []flag
	eachCommand(cli.New(nil, io.Discard, io.Discard, families...).Command(), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			all = append(all, flag{strings.Fields(c.CommandPath())[1:], f.Name, f.Value.Type()})
		})
	})
	if len(all) < 200 {
		t.Fatalf("there are %d flags only", len(all))
	}
	for _, f := range all {
		values := []string{"1", "2"}
		switch f.kind {
		case "bool":
			values = []string{"true", "false"}
		case "duration":
			values = []string{"1s", "2s"}
		}
		c, _, err := cli.New(nil, io.Discard, io.Discard, families...).Command().Find(f.command)
		if err != nil {
			t.Fatal(err)
		}
		err = c.ParseFlags([]string{"--" + f.name + "=" + values[0], "--" + f.name + "=" + values[1]})
		if several, ok := c.Flag(f.name).Value.(pflag.SliceValue); ok {
			if got := several.GetSlice(); err != nil || !slices.Equal(got, values) {
				t.Errorf("%s --%s: %q, %v", f.command, f.name, got, err)
			}
		} else if err == nil || !strings.Contains(err.Error(),
			fmt.Sprintf(`--%s" flag: already set to %q`, f.name, values[0])) {
			t.Errorf("%s --%s: two values: %v", f.command, f.name, err)
		}
	}
	rnt(t, "cat", dimuon, "--count=1", "--first=1", "--first=1", "-q", "-q")
}

// eachCommand calls do for a command and all below it.
func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, do)
	}
}

// A short flag means the same in all commands.
func TestShortFlags(t *testing.T) {
	long := map[string]string{}
	eachCommand(cli.New(nil, io.Discard, io.Discard, families...).Command(), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if other := long[f.Shorthand]; f.Shorthand != "" && other != "" && other != f.Name {
				t.Errorf("%s: -%s is --%s, elsewhere --%s", c.CommandPath(), f.Shorthand, f.Name, other)
			}
			long[f.Shorthand] = f.Name
		})
	})
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"help"}, {"help", "cat"}, {"cat", "-h"}, {"completion", "bash"},
		{"completion", "fish"}} {
		if out := rnt(t, args...); len(out) < 100 {
			t.Errorf("rnt %s prints %q", strings.Join(args, " "), out)
		}
	}
	if out := rnt(t, "help"); !strings.Contains(out, "\nUsage:\n  rnt [command]\n\nAvailable Commands:\n") {
		t.Errorf("rnt help prints %q", out)
	}
	if out := rnt(t, "help", "cat"); !strings.Contains(out, "\nUsage:\n  rnt cat ") ||
		!strings.Contains(out, "\nGlobal Flags:\n") {
		t.Errorf("rnt help cat prints %q", out)
	}
	for _, args := range [][]string{{"--version"}, {"-v"}, {"version"}} {
		out := rnt(t, args...)
		if !strings.HasPrefix(out, "rnt ") || !strings.HasSuffix(out, ", reads RNTuple format 1\n") {
			t.Errorf("rnt %s prints %q", strings.Join(args, " "), out)
		}
	}
}

func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"cat|":                                                "root\n:8\n", // file names that end so
		"cat|" + special + "dirs.root|":                       "top\ndir/sub/ntuple\ndir/other\ndir/top\n:4\n",
		"ls|" + dimuon + "|":                                  "root\n:8\n",
		"cat|" + dimuon + "|Events|":                          ":4\n",
		"stat|missing.root|":                                  ":4\n",
		"slim|out|" + special + "dirs.root|":                  "top\ndir/sub/ntuple\ndir/other\ndir/top\n:4\n",
		"diff|x|" + special + "dirs.root|top|":                "top\ndir/sub/ntuple\ndir/other\ndir/top\n:4\n",
		"merge|out|" + special + "dirs.root|--name|":          "top\ndir/sub/ntuple\ndir/other\ndir/top\n:4\n",
		"cat|" + dimuon + "|--fields|run,Muon_p":              "run,Muon_pt\nrun,Muon_phi\n:6\n",
		"cat|" + dimuon + "|Events|-f|_collection0._0.Muon_e": "_collection0._0.Muon_eta\n:6\n",
		"concat|out|" + dimuon + "[1:2]|--drop|r":             "run\n:6\n",
		"cat|" + dimuon + "|nope|--fields|r":                  ":6\n",
		"cat|--fields|r":                                      ":6\n",
		"merge|--mode|":                                       "filter\tthe fields of the first input\nstrict\tthe same fields everywhere\nunion\tthe fields of all inputs\n:4\n",
		"merge|--level|":                                      "clone\ncopy\nrecompress\nreseal\nrewrite\n:4\n",
		"completion|zs":                                       "zsh\tGenerate the autocompletion script for zsh\n:4\n",
		"schema|" + dimuon + "|Events|--js":                   "--json\tprint JSON, as read by rnt create\n:4\n",
	} {
		stdout, _, status := try(append([]string{"__complete"}, strings.Split(args, "|")...)...)
		if stdout != want || status != exitOK {
			t.Errorf("%s: status %d, got %q, want %q", args, status, stdout, want)
		}
	}
}

// Every command with the flag --compression completes what can be given to it.
func TestCompleteCompression(t *testing.T) {
	for _, command := range []string{"create", "merge", "append", "hmerge", "slim", "skim", "concat", "split", "repack"} {
		stdout, _, _ := try("__complete", command, "--compression", "")
		words := strings.Split(strings.TrimSuffix(stdout, "\n:4\n"), "\n")
		if len(words) != 5 {
			t.Errorf("%s: %q", command, stdout)
		}
		for _, w := range words {
			value, _, _ := strings.Cut(w, "\t")
			if _, err := compress.ParseSettings(value); err != nil {
				t.Errorf("%s: %v", command, err)
			}
		}
	}
}

// failing is a standard output that cannot be written to.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestOutputFails(t *testing.T) {
	for err, want := range map[error]string{
		errors.New("disk full"): "rnt: disk full\n",
		syscall.EPIPE:           "",
		io.ErrClosedPipe:        "",
	} {
		for _, args := range [][]string{{"ls", dimuon}, {"schema", dimuon}, {"cat", dimuon}, {"stat", dimuon},
			{"stat", dimuon, "--json"}} {
			var stderr bytes.Buffer
			status := tool.Run(context.Background(), args, strings.NewReader(""), failing{err}, &stderr)
			if status != exitError || stderr.String() != want {
				t.Errorf("%v, %v: status %d, %q", args, err, status, stderr.String())
			}
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cli.SignalError{Signal: os.Interrupt})
	for _, command := range []string{"ls", "schema", "cat", "stat"} {
		var stdout, stderr strings.Builder
		status := tool.Run(ctx, []string{command, dimuon}, strings.NewReader(""), &stdout, &stderr)
		if status != 130 || stderr.String() != "rnt: interrupted\n" || stdout.Len() > 0 {
			t.Errorf("%s: status %d, %q, %q", command, status, stdout.String(), stderr.String())
		}
	}
}

// An interruption in the middle of the entries leaves whole lines.
func TestInterruptedLater(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var stdout, stderr bytes.Buffer
	terminate := func() { cancel(cli.SignalError{Signal: syscall.SIGTERM}) }
	status := tool.Run(ctx, []string{"cat", dimuon}, strings.NewReader(""), onWrite{&stdout, terminate}, &stderr)
	if status != 143 || stderr.String() != "rnt: terminated\n" {
		t.Errorf("status %d, %q", status, stderr.String())
	}
	if n := bytes.Count(stdout.Bytes(), []byte("\n")); n == 0 || n >= 80000 ||
		!bytes.HasSuffix(stdout.Bytes(), []byte("}\n")) {
		t.Errorf("%d lines, the last ends with %q", n, stdout.Bytes()[stdout.Len()-10:])
	}
}

type onWrite struct {
	io.Writer
	do func()
}

func (w onWrite) Write(b []byte) (int, error) {
	w.do()
	return w.Writer.Write(b)
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.00 kB", 9994: "9.99 kB", 9995: "10.0 kB", 99949: "99.9 kB", 99950: "100 kB",
		999499: "999 kB", 999500: "1.00 MB", 1312072: "1.31 MB", 1e9: "1.00 GB", 1<<63 - 1: "9.22 EB",
	} {
		if got := text.Size(n); got != want {
			t.Errorf("size(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567",
		-123: "-123", -1234: "-1,234"} {
		if got := text.Count(n); got != want {
			t.Errorf("count(%d) = %s, want %s", n, got, want)
		}
	}
}
