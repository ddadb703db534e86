package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/compress"
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
	compression                           string
	clusterSize                           int64
	durability
	set  func(flag string) bool // reports whether a flag is given
	unit string
}

func (t *tool) convertCommand() *cobra.Command {
	var c conversion
	cmd := &cobra.Command{
		Use:   "convert IN... OUT",
		Short: "Convert between RNTuple, TTree, Parquet, Arrow, CSV and JSON Lines",
		Long: `convert makes the file OUT of the entries in the files IN, one after the other. What
they are is found out from what they begin with, what OUT shall be from its name:
.root for an RNTuple, .parquet, .arrow or .feather for Arrow's file, .arrows for
Arrow's stream, .csv, and .jsonl or .ndjson for JSON Lines. --from and --to say it
where names do not, as for OUT "-", standard output.

To RNTuple. The counters of a TTree's arrays become collections with projected fields
under the old names, as ROOT's RNTupleImporter makes them, or plain vectors with
--flat; what cannot be read is refused, or left out with --skip, and the exit status is
then 3. --all takes all TTrees of a file, with their directories. Nullable columns of
Arrow and Parquet become optionals, unless --plain names them; dictionaries become
their values, timestamps and dates integers. The types of CSV and JSON Lines are those
that hold all values exactly, or those that --schema gives, in the JSON that "rnt
schema --json" prints. --dry-run prints the fields and makes no file.

Of several RNTuples, OUT has the fields of the first one, or those of --fields. Fields that
only others have are named in a warning, and the exit status is 3, unless --fields leaves
them out.

From RNTuple. Parquet and Arrow files keep the types as "rnt help arrow" says; in CSV,
strings are written as they are and all else as cat prints it. Missing values are
empty cells, or the text of --null.

--define adds fields with the values of expressions, as "rnt slim --help" says; --where
may name them. To leave their inputs out, name them with --fields.

OUT appears only once it is complete: after an error there is no new file.

` + skipBadHelp + ` All files must be RNTuples then.`,
		Example: "  rnt convert tree.root events.root\n" +
			"  rnt convert events.root events.parquet --fields 'run,Muon_*' --where 'nMuon == 2'\n" +
			"  rnt convert table.parquet table.root --dry-run",
		Args:              outArgsLast,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFields(cmd, c.fields); err != nil {
				return err
			}
			last := len(args) - 1
			c.set = func(flag string) bool { return cmd.Flags().Changed(flag) }
			if c.unit != "" {
				return t.convertUnits(cmd, args, c)
			}
			return t.convert(cmd.Context(), args[:last], args[last], c)
		},
	}
	c.selecting.flags(cmd)
	defineFlag(cmd, &c.define, newFieldUsage)
	f := cmd.Flags()
	f.StringVar(&c.from, "from", "", "`KIND` of IN: "+kindNames(foreign.Kinds))
	f.StringVar(&c.to, "to", "", "`KIND` of OUT: the same without ttree")
	f.StringVar(&c.newName, "new-name", "", "name of the RNTuple that is made (default that of IN, or \"Events\")")
	f.StringVar(&c.schema, "schema", "", "`FILE` with the schema of CSV or JSON Lines")
	f.StringVar(&c.null, "null", "", "`TEXT` of missing values in CSV")
	f.StringSliceVar(&c.plain, "plain", nil, "`PATTERNS` of nullable columns without nulls, which need not be optionals")
	f.BoolVar(&c.flat, "flat", false, "make plain vectors of a TTree's arrays")
	f.BoolVar(&c.everyTree, "all", false, "convert all TTrees of the files, into one file")
	f.BoolVar(&c.flatten, "flatten", false, "give RNTuples the names of TTrees without their directories")
	f.BoolVar(&c.skip, "skip", false, "leave out what of a TTree cannot be read")
	f.BoolVar(&c.binary, "binary", false, "make binaries of strings, which need not be UTF-8")
	f.StringVar(&c.item, "item", "", "`NAME` of the items of lists in Parquet (default element)")
	f.BoolVar(&c.dryRun, "dry-run", false, "print the fields that an RNTuple would have, and end")
	compressionFlag(cmd, &c.compression, "", "zstd:5; an RNTuple's as it is")
	f.Int64Var(&c.clusterSize, "cluster-size", 128<<20, "wanted size of clusters of RNTuples, in bytes")
	forceFlag(cmd, &c.force)
	skipBadFlag(cmd, &c.skipBad)
	c.syncFlag(cmd)
	unitFlag(cmd, &c.unit)
	var names []string
	for _, k := range foreign.Kinds {
		names = append(names, string(k))
	}
	completeValues(cmd, "from", names...)
	completeValues(cmd, "to", slices.DeleteFunc(names, func(s string) bool { return s == string(foreign.Tree) })...)
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
		return usageError("which file is to be converted?")
	case 1:
		return usageError("which file is to be made? It comes last")
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
		{"schema", "CSV or JSON Lines that are read", from.IsText()},
		{"null", "CSV", from == foreign.CSV || to == foreign.CSV},
		{"plain", "Arrow or Parquet that are read", arrow(from)},
		{"flat", "TTrees", from == foreign.Tree},
		{"flatten", "TTrees", from == foreign.Tree},
		{"skip", "TTrees", from == foreign.Tree},
		{"binary", "Arrow or Parquet that are written", arrow(to)},
		{"item", "Parquet that is written", to == foreign.Parquet},
		{"new-name", "RNTuples that are made of other formats", root && from != foreign.RNTuple},
		{"compression", "RNTuples that are written", root},
		{"cluster-size", "RNTuples that are written", root},
		{"collections", "other formats that are written", to != foreign.RNTuple},
		{"no-zones", "--where", len(c.where) > 0},
		{"dry-run", "the fields that there are, not with --define", len(c.define) == 0},
		{"skip-bad", "RNTuples that are read, without --dry-run", from == foreign.RNTuple && !c.dryRun},
	} {
		if c.set(f.flag) && !f.fine {
			return usageError(fmt.Sprintf("--%s goes with %s", f.flag, f.goes))
		}
	}
	return nil
}

// kindOf returns the format that a flag names.
func kindOf(flag, value string) (foreign.Kind, error) {
	k := foreign.Kind(value)
	if !slices.Contains(foreign.Kinds, k) {
		return "", usageError(fmt.Sprintf("%s %s: want one of %s", flag, value, kindNames(foreign.Kinds)))
	}
	return k, nil
}

func (t *tool) convert(ctx context.Context, args []string, out string, c conversion) error {
	to, err := c.target(out)
	if err != nil {
		return err
	}
	paths := make([]string, len(args))
	for i, arg := range args {
		if paths[i], err = t.inputOf(ctx, arg, false); err != nil {
			return err
		}
	}
	from, err := c.source(ctx, paths, t.remote.options)
	if err != nil {
		return err
	}
	if err := c.check(from, to); err != nil {
		return err
	}
	if err := checkName(from, c.name, shown(args[0])); err != nil {
		return err
	}
	switch {
	case c.everyTree && (from != foreign.Tree || to != foreign.RNTuple || len(c.where)+len(c.define) > 0 || c.dryRun):
		return usageError("--all makes RNTuples of TTrees, without --where, --define and --dry-run")
	case c.everyTree && (c.name != "" || c.newName != ""):
		return usageError("--all converts all TTrees, with their names")
	}
	if c.dryRun {
		return t.dryRun(ctx, args, paths, from, c)
	}
	if out != "-" {
		if err := t.beginOutput(ctx, out, c.force, append(paths, c.schema)...); err != nil {
			return err
		}
	}
	if from == foreign.RNTuple {
		return t.without(ctx, t.bad(ctx, c.skipBad, out, c.force, c.name), paths, func(files []string) error {
			if to == foreign.RNTuple {
				return t.convertWithin(ctx, c.pieces(files), out, c)
			}
			source, err := t.openSource(ctx, files, c.name, part{})
			if err != nil {
				return err
			}
			defer source.Close()
			return t.convertFrom(ctx, source, c.pieces(files), to, out, c)
		})
	}
	if to == foreign.RNTuple && len(c.where)+len(c.define) == 0 {
		return t.convertTo(ctx, args, paths, from, out, c)
	}
	p := part{count: all}
	if len(c.where)+len(c.define) == 0 { // which may need other fields
		p.fields = c.fields
	}
	source, err := t.openTable(ctx, args, paths, from, c, p)
	if err != nil {
		return err
	}
	defer source.Close()
	if c.name = ""; to == foreign.RNTuple {
		t.incomplete = t.incomplete || len(c.fields) == 0 && len(source.left) > 0
		return t.convertWithin(ctx, c.pieces(source.paths), out, c)
	}
	return t.convertFrom(ctx, source, c.pieces(source.paths), to, out, c)
}

// target returns the format of the file out.
func (c *conversion) target(out string) (foreign.Kind, error) {
	if c.to != "" {
		to, err := kindOf("--to", c.to)
		switch {
		case err != nil:
			return "", err
		case to == foreign.Tree:
			return "", usageError("--to ttree: TTrees are not written")
		case to == foreign.RNTuple && out == "-":
			return "", usageError("a ROOT file cannot be written to standard output")
		}
		return to, nil
	}
	if out == "-" {
		return "", usageError("which format? Use --to")
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s: is a directory", out)
	}
	to, err := foreign.BySuffix(remote.Base(out))
	if err != nil {
		return "", usageError(err.Error() + "; use --to")
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

// table opens files that are no RNTuples.
func (t *tool) table(ctx context.Context, args, paths []string, from foreign.Kind, c conversion, set func(*foreign.Options)) (foreign.Table, error) {
	o := foreign.Options{Context: ctx, Kind: from, Name: c.name, Count: int64(all), Null: c.null, Plain: c.plain, Flat: c.flat, Skip: c.skip, Remote: t.remote.options}
	if c.schema != "" {
		var err error
		if o.Schema, err = readDocument(c.schema); err != nil {
			return nil, fmt.Errorf("%s: %w", c.schema, err)
		}
	}
	bar := t.bar("entries")
	o.Progress = bar.setOf
	set(&o)
	table, err := foreign.Open(paths, o)
	if err != nil {
		return nil, err
	}
	for _, w := range table.Warnings() {
		t.warn("%s: %w", shown(args[0]), w)
	}
	return barred{table, bar}, nil
}

// barred is a table with a progress bar, which closing it removes.
type barred struct {
	foreign.Table
	bar *bar
}

func (b barred) Close() error {
	b.bar.done()
	return b.Table.Close()
}

// strict makes the fields of the flags a choice of columns, which must exist.
func (c *conversion) strict(o *foreign.Options) {
	o.Choose = func(columns []string) ([]string, error) { return chooseColumns(columns, c.fields) }
}

// nameOf returns the name of the RNTuple that is made of a table.
func (c *conversion) nameOf(table foreign.Table) string {
	switch {
	case c.newName != "":
		return c.newName
	case table.Name() != "" && c.flatten:
		return path.Base(table.Name())
	case table.Name() != "":
		return table.Name()
	}
	return "Events"
}

// writing returns the options for writing RNTuples.
func (c *conversion) writing(ctx context.Context) ([]rntuple.WriteOption, error) {
	if c.clusterSize <= 0 {
		return nil, usageError("--cluster-size must be positive")
	}
	opts := append(c.durability.options(), rntuple.WriteContext(ctx), rntuple.ClusterSize(c.clusterSize))
	if c.compression != "" {
		settings, err := compress.ParseSettings(c.compression)
		if err != nil {
			return nil, usageError("--compression: " + err.Error())
		}
		opts = append(opts, rntuple.Compression(settings))
	}
	return opts, nil
}

// convertTo makes RNTuples of files that hold none: of one table or, with --all, of all TTrees. All
// are looked at before the first is written.
func (t *tool) convertTo(ctx context.Context, args, paths []string, from foreign.Kind, out string, c conversion) error {
	opts, err := c.writing(ctx)
	if err != nil {
		return err
	}
	opts = append(opts, t.creating()...)
	all := []string{c.name}
	if c.everyTree {
		if all, err = t.treesOf(paths); err != nil {
			return err
		}
	}
	tables := map[string]foreign.Table{}
	var names []string
	for _, c.name = range all {
		table, err := t.table(ctx, args, paths, from, c, c.strict)
		if err != nil {
			return err
		}
		defer table.Close()
		t.incomplete = t.incomplete || len(table.Warnings()) > 0
		name := c.nameOf(table)
		if tables[name] != nil {
			return fmt.Errorf("%s: there are several trees %q; without --flatten, they are told apart by their directories", shown(args[0]), name)
		}
		tables[name], names = table, append(names, name)
	}
	f, err := rntuple.CreateFile(out, opts...)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, name := range names {
		n, err := tables[name].Add(f, name, opts...)
		if err != nil {
			f.Abort()
			return err
		}
		total += n
	}
	if err := f.Close(); err != nil {
		return err
	}
	t.output.done()
	t.warnNeeds(out, f.Needs())
	return t.printConverted(out, total)
}

// treesOf returns the names of the TTrees that each of the files has.
func (t *tool) treesOf(paths []string) ([]string, error) {
	all, err := foreign.TreeNames(paths[0], t.remote.options)
	if err != nil {
		return nil, err
	}
	for _, path := range paths[1:] {
		names, err := foreign.TreeNames(path, t.remote.options)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(slices.Sorted(slices.Values(all)), slices.Sorted(slices.Values(names))) {
			return nil, fmt.Errorf("%s has the trees %q, and %s has %q: --all joins files with the same trees", paths[0], all, path, names)
		}
	}
	return all, nil
}

func (t *tool) printConverted(out string, n int64) error {
	if t.quiet || out == "-" {
		return nil
	}
	_, err := fmt.Fprintf(t.out, "%s: %s\n", remote.Base(out), pluralOf(n, "entry", "entries"))
	return err
}

// pieces returns all of the RNTuples in files.
func (c *conversion) pieces(paths []string) (all []surgery.Piece) {
	for _, path := range paths {
		all = append(all, surgery.Piece{Input: surgery.Input{Path: path, Name: c.name}})
	}
	return all
}

// convertWithin makes an RNTuple of others.
func (t *tool) convertWithin(ctx context.Context, pieces []surgery.Piece, out string, c conversion, more ...surgery.Option) error {
	opts, err := compressionOption(c.compression)
	if err != nil {
		return err
	}
	opts = append(opts, surgery.Write(rntuple.ClusterSize(c.clusterSize)), surgery.Write(c.durability.options()...))
	report, err := t.withBar(func(all ...surgery.Option) (*surgery.Report, error) {
		return t.skimmed(ctx, out, pieces, &c, slices.Concat(opts, more, all)...)
	})
	if err != nil {
		return lacking(err, adviseFields, c.fields...)
	}
	return t.printConverted(out, report.Entries)
}

// convertUnits converts units of a plan.
func (t *tool) convertUnits(cmd *cobra.Command, args []string, c conversion) error {
	if len(args) != 2 || c.to == "" {
		return usageError("--unit takes a plan, a folder, and --to")
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
	return t.eachUnit(cmd, c.unit, args[0], args[1], suffix, workOf(cmd), func(o *unitOutput) error {
		if to == foreign.RNTuple {
			return t.convertWithin(ctx, o.pieces(), o.path(), c, o.writing())
		}
		s, err := t.openSource(ctx, []string{o.pieces()[0].Path}, o.plan.Name, part{})
		if err != nil {
			return err
		}
		defer s.Close()
		if err := s.openChain(o.pieces(), append(t.reading(), rntuple.Context(ctx))); err != nil {
			return err
		}
		return t.convertFrom(ctx, s, o.pieces(), to, o.path(), c)
	})
}

// convertFrom writes the chosen entries of a source, which pieces are, to a file of another format.
func (t *tool) convertFrom(ctx context.Context, from *source, pieces []surgery.Piece, to foreign.Kind, out string, c conversion) error {
	if len(c.define) > 0 {
		with, err := t.withDefined(ctx, pieces, from.name, &c)
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
	bar := t.bar("entries")
	o := foreign.WriteOptions{Fields: fields, Null: c.null, Binary: c.binary, Item: c.item, Progress: bar.setOf}
	write := func(w io.Writer) (int64, error) {
		b := bufio.NewWriterSize(w, 1<<20)
		n, err := foreign.Write(ctx, b, to, entries, o)
		if flushed := b.Flush(); err == nil {
			err = flushed
		}
		bar.done()
		if err != nil {
			return n, lacking(from.named(err), adviseFields, c.fields...)
		}
		t.leaveOmitted(from, c.fields)
		return n, nil
	}
	if out == "-" {
		if to != foreign.CSV && to != foreign.JSON && isTerminal(t.stdout) {
			return usageError("standard output is a terminal, and " + string(to) + " no text")
		}
		_, err := write(t.out)
		return err
	}
	f, err := diskfile.Create(out, diskfile.Options{Context: ctx, NoSync: c.noSync, Upload: t.uploads, Wait: t.wait, NoReplace: !t.uploads.Replace})
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := write(io.NewOffsetWriter(f, 0))
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	if err := f.Publish(); err != nil {
		return err
	}
	t.output.done()
	return t.printConverted(out, n)
}

// dryRun prints the fields of the RNTuple that would be made.
func (t *tool) dryRun(ctx context.Context, args, paths []string, from foreign.Kind, c conversion) error {
	if from == foreign.RNTuple {
		s, err := t.openSource(ctx, args, c.name, part{})
		if err != nil {
			return err
		}
		defer s.Close()
		chosen, err := choose(s.first.Schema(), c.fields)
		if err != nil {
			return s.named(err)
		}
		return s.first.Schema().Print(t.out, fieldsOf(chosen)...)
	}
	table, err := t.table(ctx, args, paths, from, c, c.strict)
	if err != nil {
		return err
	}
	defer table.Close()
	t.incomplete = t.incomplete || len(table.Warnings()) > 0
	s, err := foreign.SchemaOf(table.Document(), c.nameOf(table))
	if err != nil {
		return err
	}
	return s.Print(t.out)
}
