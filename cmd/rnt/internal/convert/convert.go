package convert

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/operation"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/terminal"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/units"
	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// conversion holds the flags of convert.
type conversion struct {
	selecting
	from, to, schema, null, newName, item string
	plain                                 []string
	flat, skip, binary                    bool
	everyTree, flatten                    bool
	dryRun, force, skipBad                bool
	cli.WriteFlags
	set  func(flag string) bool // reports whether a flag is given
	unit string
}

func convertCommand(t *cli.Tool) *cobra.Command {
	var c conversion
	cmd := &cobra.Command{
		Use:   "convert IN... OUT",
		Short: "Convert between RNTuple, TTree, Parquet, Arrow, CSV and JSON Lines",
		Long: `convert writes the entries of the files IN, one file after the other, to the file OUT.
The input format is detected from the content, the output format from the extension:
.root for an RNTuple, .parquet, .arrow or .feather for an Arrow file, .arrows for an
Arrow stream, .csv, and .jsonl or .ndjson for JSON Lines. --from and --to override the
detection; OUT "-", standard output, needs --to.

To RNTuple. The counters of a TTree's arrays become collections with projected fields
under the original names, as with ROOT's RNTupleImporter, or plain vectors with --flat.
Unsupported branches are an error; with --skip they are skipped, and the exit status is
3. --all converts all TTrees of a file, with their directories. Nullable columns of
Arrow and Parquet become optionals, unless --plain names them; dictionaries are decoded;
timestamps and dates become integers. The types of CSV and JSON Lines are inferred such
that all values are exact, or given by --schema, in the format of "rnt schema --json".
--dry-run prints the fields and writes no file.

With several RNTuples, OUT has the fields of the first one, or those of --fields. Fields
that only others have are listed in a warning, and the exit status is 3, unless --fields
excludes them.

From RNTuple. For the types in Parquet and Arrow files, see "rnt help arrow". In CSV,
strings are written verbatim and all other values as cat prints them. Missing values are
empty cells, or the text of --null.

--define adds fields computed by expressions, see "rnt slim --help"; --where can use
them. To drop their inputs, name the new fields with --fields.

OUT appears only when it is complete; after an error there is no new file.

` + source.SkipBadHelp + ` It requires that all
files are RNTuples.`,
		Example: "  rnt convert tree.root events.root\n" +
			"  rnt convert events.root events.parquet --fields 'run,Muon_*' --where 'nMuon == 2'\n" +
			"  rnt convert table.parquet table.root --dry-run",
		Args:              outArgsLast,
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := selection.CheckFields(cmd, c.fields); err != nil {
				return err
			}
			last := len(args) - 1
			c.set = func(flag string) bool { return cmd.Flags().Changed(flag) }
			if c.unit != "" {
				return convertUnits(t, cmd, args, c)
			}
			return convert(cmd.Context(), t, args[:last], args[last], c)
		},
	}
	c.selecting.flags(cmd)
	selection.DefineFlag(cmd, &c.Define, selection.NewFieldUsage)
	f := cmd.Flags()
	f.StringVar(&c.from, "from", "", "`KIND` of IN: "+kindNames(foreign.Kinds))
	f.StringVar(&c.to, "to", "", "`KIND` of OUT: as for --from, except ttree")
	f.StringVar(&c.newName, "new-name", "", "name of the new RNTuple (default that of IN, or \"Events\")")
	f.StringVar(&c.schema, "schema", "", "`FILE` with the schema of CSV or JSON Lines")
	f.StringVar(&c.null, "null", "", "`TEXT` of missing values in CSV")
	f.StringSliceVar(&c.plain, "plain", nil,
		"`PATTERNS` of nullable columns without nulls, which do not become optionals")
	f.BoolVar(&c.flat, "flat", false, "convert a TTree's arrays to plain vectors")
	f.BoolVar(&c.everyTree, "all", false, "convert all TTrees of the files into one file")
	f.BoolVar(&c.flatten, "flatten", false, "drop the directories of TTrees from the names of the RNTuples")
	f.BoolVar(&c.skip, "skip", false, "skip unsupported branches of a TTree")
	f.BoolVar(&c.binary, "binary", false, "write strings as binary; they need not be UTF-8")
	f.StringVar(&c.item, "item", "", "`NAME` of list items in Parquet (default element)")
	f.BoolVar(&c.dryRun, "dry-run", false, "print the fields of the new RNTuple, and write no file")
	cli.CompressionFlag(cmd, &c.Compression, "", "zstd:5, or unchanged for an RNTuple")
	f.Int64Var(&c.ClusterSize, "cluster-size", 128<<20, "target size of clusters, in bytes")
	cli.ForceFlag(cmd, &c.force)
	source.SkipBadFlag(cmd, &c.skipBad)
	c.SyncFlag(cmd)
	units.Flag(cmd, &c.unit)
	var names []string
	for _, k := range foreign.Kinds {
		names = append(names, string(k))
	}
	cli.CompleteValues(cmd, "from", names...)
	cli.CompleteValues(cmd, "to", slices.DeleteFunc(names, func(s string) bool { return s == string(foreign.Tree) })...)
	cmd.MarkFlagFilename("schema", "json")
	return cmd
}

func kindNames(kinds []foreign.Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// outArgsLast checks the arguments IN... OUT.
func outArgsLast(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return cli.UsageError("missing argument IN")
	case 1:
		return cli.UsageError("missing argument OUT")
	}
	return nil
}

// check refuses flags that have no effect for files of these formats.
func (c *conversion) check(from, to foreign.Kind) error {
	arrow := func(k foreign.Kind) bool { return k == foreign.Parquet || k == foreign.Arrow || k == foreign.Arrows }
	root := to == foreign.RNTuple || c.dryRun
	for _, f := range []struct {
		flag, goes string
		fine       bool
	}{
		{"schema", "CSV or JSON Lines input", from.IsText()},
		{"null", "CSV", from == foreign.CSV || to == foreign.CSV},
		{"plain", "Arrow or Parquet input", arrow(from)},
		{"flat", "TTree input", from == foreign.Tree},
		{"flatten", "TTree input", from == foreign.Tree},
		{"skip", "TTree input", from == foreign.Tree},
		{"binary", "Arrow or Parquet output", arrow(to)},
		{"item", "Parquet output", to == foreign.Parquet},
		{"new-name", "input that is not an RNTuple, and RNTuple output", root && from != foreign.RNTuple},
		{"compression", "RNTuple output", root},
		{"cluster-size", "RNTuple output", root},
		{"collections", "output that is not an RNTuple", to != foreign.RNTuple},
		{"no-zones", "--where", len(c.Where) > 0},
		{"dry-run", "that there is no --define", len(c.Define) == 0},
		{"skip-bad", "RNTuple input, and no --dry-run", from == foreign.RNTuple && !c.dryRun},
	} {
		if c.set(f.flag) && !f.fine {
			return cli.UsageError(fmt.Sprintf("--%s requires %s", f.flag, f.goes))
		}
	}
	return nil
}

// kindOf returns the format that a flag names.
func kindOf(flag, value string) (foreign.Kind, error) {
	k := foreign.Kind(value)
	if !slices.Contains(foreign.Kinds, k) {
		return "", cli.UsageError(fmt.Sprintf("%s %s: want one of %s", flag, value, kindNames(foreign.Kinds)))
	}
	return k, nil
}

func convert(ctx context.Context, t *cli.Tool, args []string, out string, c conversion) error {
	to, err := c.target(out)
	if err != nil {
		return err
	}
	paths, err := t.Input.Files(ctx, args)
	if err != nil {
		return err
	}
	from, err := c.source(ctx, paths, t.Input.Remote())
	if err != nil {
		return err
	}
	if err := c.check(from, to); err != nil {
		return err
	}
	if err := source.CheckName(from, c.name, cli.Shown(args[0])); err != nil {
		return err
	}
	switch {
	case c.everyTree && (from != foreign.Tree || to != foreign.RNTuple || len(c.Where)+len(c.Define) > 0 || c.dryRun):
		return cli.UsageError(
			"--all requires TTree input and RNTuple output, and excludes --where, --define and --dry-run")
	case c.everyTree && (c.name != "" || c.newName != ""):
		return cli.UsageError("--all cannot be combined with --name or --new-name")
	}
	if c.dryRun {
		return dryRun(ctx, t, args, paths, from, c)
	}
	if out != "-" {
		if err := t.Output.Begin(ctx, out, c.force, append(paths, c.schema)...); err != nil {
			return err
		}
	}
	if from == foreign.RNTuple {
		bad := source.BadFiles{Skip: c.skipBad, Out: out, Force: c.force, Name: c.name}
		return bad.Without(ctx, t, paths, func(files []string) error {
			if to == foreign.RNTuple {
				return convertWithin(ctx, t, source.Pieces(files, c.name), out, c, anew)
			}
			s, err := source.Open(ctx, t, files, c.name, source.Part{})
			if err != nil {
				return err
			}
			defer s.Close()
			return convertFrom(ctx, t, s, source.Pieces(files, c.name), to, out, c)
		})
	}
	if to == foreign.RNTuple && len(c.Where)+len(c.Define) == 0 {
		return convertTo(ctx, t, args, paths, from, out, c)
	}
	p := source.Part{Count: cli.All}
	if len(c.Where)+len(c.Define) == 0 { // which may need other fields
		p.Fields = c.fields
	}
	o, err := c.tables(from)
	if err != nil {
		return err
	}
	s, err := source.FromTable(ctx, t, cli.Shown(args[0]), paths, o, c.newName, p)
	if err != nil {
		return err
	}
	defer s.Close()
	if c.name = ""; to == foreign.RNTuple {
		t.Report.Incomplete = t.Report.Incomplete || len(c.fields) == 0 && len(s.Left) > 0
		return convertWithin(ctx, t, source.Pieces(s.Paths, c.name), out, c, anew)
	}
	return convertFrom(ctx, t, s, source.Pieces(s.Paths, c.name), to, out, c)
}

// target returns the format of the file out.
func (c *conversion) target(out string) (foreign.Kind, error) {
	if c.to != "" {
		to, err := kindOf("--to", c.to)
		switch {
		case err != nil:
			return "", err
		case to == foreign.Tree:
			return "", cli.UsageError("--to ttree: writing TTrees is not supported")
		case to == foreign.RNTuple && out == "-":
			return "", cli.UsageError("a ROOT file cannot be written to standard output")
		}
		return to, nil
	}
	if out == "-" {
		return "", cli.UsageError("missing output format; use --to")
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s: is a directory", out)
	}
	to, err := foreign.BySuffix(remote.Base(out))
	if err != nil {
		return "", cli.UsageError(err.Error() + "; use --to")
	}
	return to, nil
}

// source returns the format of the inputs.
func (c *conversion) source(ctx context.Context, paths []string, o remote.Options) (from foreign.Kind, err error) {
	if c.from != "" {
		return kindOf("--from", c.from)
	}
	if c.skipBad {
		return foreign.RNTuple, nil
	}
	for i, path := range paths {
		k, err := foreign.Detect(ctx, path, c.name, o)
		if err != nil {
			return "", err
		}
		if i > 0 && k != from {
			return "", fmt.Errorf("%s is %s, and %s is %s", paths[0], from, path, k)
		}
		from = k
	}
	return from, nil
}

// tables returns how files are read that are no RNTuples.
func (c *conversion) tables(from foreign.Kind) (o foreign.Options, err error) {
	o = foreign.Options{Kind: from, Name: c.name, Count: int64(cli.All), Null: c.null, Plain: c.plain,
		Flat: c.flat, Skip: c.skip}
	if c.schema != "" {
		if o.Schema, err = cli.ReadDocument(c.schema); err != nil {
			return o, fmt.Errorf("%s: %w", c.schema, err)
		}
	}
	return o, nil
}

// table opens files that are no RNTuples. The flags choose columns, which must exist.
func (c *conversion) table(ctx context.Context, t *cli.Tool, args, paths []string,
	from foreign.Kind) (foreign.Table, error) {
	o, err := c.tables(from)
	if err != nil {
		return nil, err
	}
	o.Choose = func(columns []string) ([]string, error) { return source.ChooseColumns(columns, c.fields) }
	return source.OpenTable(ctx, t, cli.Shown(args[0]), paths, o)
}

// nameOf returns the name of the RNTuple that is made of a table.
func (c *conversion) nameOf(table foreign.Table) string {
	name := cmp.Or(c.newName, table.Name(), source.DefaultName)
	if c.flatten && c.newName == "" {
		name = path.Base(name)
	}
	return name
}

// convertTo makes RNTuples of files that hold none: of one table or, with --all, of all TTrees. All
// are looked at before the first is written.
func convertTo(ctx context.Context, t *cli.Tool, args, paths []string, from foreign.Kind,
	out string, c conversion) error {
	opts, err := c.Options(ctx)
	if err != nil {
		return err
	}
	t.Output.Options(&opts.File)
	file := opts.File
	opts.File = rntuple.FileOptions{} // the tables are added to the file
	all := []string{c.name}
	if c.everyTree {
		if all, err = treesOf(t, paths); err != nil {
			return err
		}
	}
	tables := map[string]foreign.Table{}
	var names []string
	for _, c.name = range all {
		table, err := c.table(ctx, t, args, paths, from)
		if err != nil {
			return err
		}
		defer table.Close()
		t.Report.Incomplete = t.Report.Incomplete || len(table.Warnings()) > 0
		name := c.nameOf(table)
		if tables[name] != nil {
			return fmt.Errorf("%s: several trees are named %q; omit --flatten to distinguish them by directory",
				cli.Shown(args[0]), name)
		}
		tables[name], names = table, append(names, name)
	}
	f, err := rntuple.CreateFile(out, &file)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, name := range names {
		n, err := tables[name].Add(f, name, opts)
		if err != nil {
			f.Abort()
			return err
		}
		total += n
	}
	if err := f.Close(); err != nil {
		return err
	}
	t.Output.Done()
	t.Report.WarnNeeds(out, f.Needs())
	return printConverted(t, out, total)
}

// treesOf returns the names of the TTrees that each of the files has.
func treesOf(t *cli.Tool, paths []string) ([]string, error) {
	all, err := foreign.TreeNames(paths[0], t.Input.Remote())
	if err != nil {
		return nil, err
	}
	for _, path := range paths[1:] {
		names, err := foreign.TreeNames(path, t.Input.Remote())
		if err != nil {
			return nil, err
		}
		if !slices.Equal(slices.Sorted(slices.Values(all)), slices.Sorted(slices.Values(names))) {
			return nil, fmt.Errorf("%s has the trees %q, but %s has %q; --all requires the same trees in all files",
				paths[0], all, path, names)
		}
	}
	return all, nil
}

func printConverted(t *cli.Tool, out string, n int64) error {
	if t.Report.Quiet || out == "-" {
		return nil
	}
	_, err := fmt.Fprintf(t.Out, "%s: %s\n", remote.Base(out), text.PluralOf(n, "entry", "entries"))
	return err
}

// anew is the identity of a file that is different each time.
func anew(*rntuple.FileOptions) {}

// convertWithin makes an RNTuple of others.
func convertWithin(ctx context.Context, t *cli.Tool, pieces []surgery.Piece, out string, c conversion,
	identity units.Identity) error {
	o, err := operation.Options(&c.WriteFlags)
	if err != nil {
		return err
	}
	identity(&o.Write.File)
	report, err := operation.Run(ctx, t, false, &o, func() (*surgery.Report, error) {
		return skimmed(ctx, t, out, pieces, &c, o)
	})
	if err != nil {
		return operation.Lacking(err, operation.AdviseFields, c.fields...)
	}
	return printConverted(t, out, report.Entries)
}

// convertUnits converts units of a plan.
func convertUnits(t *cli.Tool, cmd *cobra.Command, args []string, c conversion) error {
	if len(args) != 2 || c.to == "" {
		return cli.UsageError("--unit requires a plan, a folder and --to")
	}
	to, err := c.target(args[1])
	if err != nil {
		return err
	}
	if err := c.check(foreign.RNTuple, to); err != nil {
		return err
	}
	suffix := "." + string(to)
	if to == foreign.RNTuple {
		suffix = ".root"
	}
	ctx := cmd.Context()
	return units.Each(t, cmd, c.unit, args[0], args[1], suffix, units.Work(cmd), func(o *units.Output) error {
		if to == foreign.RNTuple {
			return convertWithin(ctx, t, o.Pieces(), o.Path(), c, o.Identify)
		}
		pieces := o.Pieces()
		s, err := source.Open(ctx, t, []string{pieces[0].Path}, pieces[0].Name, source.Part{})
		if err != nil {
			return err
		}
		defer s.Close()
		if err := s.OpenChain(ctx, t, pieces); err != nil {
			return err
		}
		return convertFrom(ctx, t, s, pieces, to, o.Path(), c)
	})
}

// convertFrom writes the chosen entries of a source, which pieces are, to a file of another format.
func convertFrom(ctx context.Context, t *cli.Tool, from *source.Source, pieces []surgery.Piece, to foreign.Kind,
	out string, c conversion) error {
	if len(c.Define) > 0 {
		with, err := withDefined(ctx, t, pieces, from.Name, &c)
		if err != nil {
			return err
		}
		defer with.Close()
		from = with
	}
	entries, fields, err := c.choose(ctx, t, from)
	if err != nil {
		return err
	}
	bar := t.Report.Bar("entries")
	o := foreign.WriteOptions{Fields: fields, Null: c.null, Binary: c.binary, Item: c.item, Progress: bar.Set}
	write := func(w io.Writer) (int64, error) {
		b := bufio.NewWriterSize(w, 1<<20)
		n, err := foreign.Write(ctx, b, to, entries, o)
		if flushed := b.Flush(); err == nil {
			err = flushed
		}
		bar.Done()
		if err != nil {
			return n, operation.Lacking(from.Named(err), operation.AdviseFields, c.fields...)
		}
		from.LeaveOmitted(t.Report, c.fields)
		return n, nil
	}
	if out == "-" {
		if to != foreign.CSV && to != foreign.JSON && terminal.Is(t.Stdout) {
			return cli.UsageError("standard output is a terminal, and " + string(to) + " no text")
		}
		_, err := write(t.Out)
		return err
	}
	var n int64
	if err := t.Output.Create(ctx, out, c.NoSync, func(f *diskfile.File) (err error) {
		n, err = write(io.NewOffsetWriter(f, 0))
		return err
	}); err != nil {
		return err
	}
	return printConverted(t, out, n)
}

// dryRun prints the fields of the RNTuple that would be made.
func dryRun(ctx context.Context, t *cli.Tool, args, paths []string, from foreign.Kind, c conversion) error {
	if from == foreign.RNTuple {
		s, err := source.Open(ctx, t, args, c.name, source.Part{})
		if err != nil {
			return err
		}
		defer s.Close()
		chosen, err := selection.Choose(s.Reader.Schema(), c.fields)
		if err != nil {
			return s.Named(err)
		}
		return s.Reader.Schema().Print(t.Out, selection.Fields(chosen)...)
	}
	table, err := c.table(ctx, t, args, paths, from)
	if err != nil {
		return err
	}
	defer table.Close()
	t.Report.Incomplete = t.Report.Incomplete || len(table.Warnings()) > 0
	s, err := foreign.SchemaOf(table.Document(), c.nameOf(table))
	if err != nil {
		return err
	}
	return s.Print(t.Out)
}
