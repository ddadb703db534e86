package histogram

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/plot"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/units"
	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/internal/show/draw"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// drawing holds the flags of draw.
type drawing struct {
	expr, where, label, define []string
	weight, bins, ranges, log  string
	name, out                  string
	profile, asJSON            bool
	explain, force, noZones    bool
	skipBad                    bool
	units                      string // the folder of what jobs have filled
	work                       string // theirs: see workOf
}

func drawCommand(t *cli.Tool) *cobra.Command {
	var d drawing
	var unit string
	cmd := &cobra.Command{
		Use:   "draw FILE... EXPR",
		Short: "Draw a histogram of an expression",
		Long: `draw evaluates EXPR for the entries of the RNTuples in the files, fills a histogram and
draws it: as text in the width of the terminal, as PNG, SVG or PDF with --out, or prints
its bins with --json.

EXPR is an expression over the fields; "rnt help expressions" describes the language and
its functions. An array is filled item by item, together with the items of other arrays
of the same length, used as a second coordinate, weight or condition; single values
apply to all of its items. Missing values, such as Muon_pt[0] if there is no muon, and
NaNs are not filled. Strings are counted by value.

Y:X, as in ROOT's TTree::Draw, draws two dimensions, or with --profile the mean of Y as
a function of X with its standard error. Multiple -e or --where overlay histograms, one
for each combination of expression and condition.

Without --range, an additional pass determines the range, which is rounded; bins of
integers are centered on them. Either end may be omitted: 0: starts at zero. Without
--bins, there is a round number of bins, at most the columns of the terminal, or 100
otherwise. With --log x, the bins have equal width on a logarithmic scale. A bin
includes its lower edge and excludes its upper one. The mean and the standard deviation
are those of the values in range, as in ROOT. If a file has a zone map ("rnt index" adds
one), clusters in which no --where can be true are not read. NO_COLOR and locales
without UTF-8 are respected.

` + source.SkipBadHelp,
		Example: "  rnt draw data.root Muon_pt --where 'nMuon == 2' --range 0:100\n" +
			"  rnt draw run*.root -e 'Muon_pt' -e 'Jet_pt' --log y --out pt.svg\n" +
			"  rnt draw data.root 'Muon_pt:Muon_eta' --profile --bins 50",
		Args:              func(_ *cobra.Command, args []string) error { return d.checkArgs(args) },
		ValidArgsFunction: d.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			files := args
			if len(d.expr) == 0 {
				files, d.expr = args[:len(args)-1], args[len(args)-1:]
			}
			d.work = units.Work(cmd, d.expr...)
			if unit != "" {
				return drawUnits(t, cmd, unit, files, &d)
			}
			if d.skipBad && d.units != "" {
				return cli.UsageError("--skip-bad cannot be combined with --units")
			}
			bad := source.BadFiles{Skip: d.skipBad, Out: d.out, Force: d.force, Name: d.name}
			return bad.Without(cmd.Context(), t, files,
				func(files []string) error { return drawFiles(cmd.Context(), t, files, &d, bad.Skipped) })
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&d.expr, "expr", "e", nil, "an `EXPR` to draw; may be repeated; all arguments are then files")
	f.StringArrayVar(&d.where, "where", nil,
		"fill only entries, or items, for which `COND` is true; if repeated, draw one histogram per condition (combine conditions with &&)")
	f.StringVar(&d.weight, "weight", "", "fill with the weight `EXPR`")
	f.StringArrayVar(&d.label, "label", nil, "`NAME` of a histogram; repeat for each, in order (default what it draws)")
	selection.DefineFlag(cmd, &d.define, "define a name for an expression, `NAME=EXPR`; may be repeated")
	f.StringVar(&d.bins, "bins", "", "`N` bins, or N,M for x and y")
	f.StringVar(&d.ranges, "range", "", "range `LOW:HIGH`, or two ranges for x and y: -5:5,0:100")
	f.StringVar(&d.log, "log", "", "logarithmic `AXES`: any of x, y, z")
	f.BoolVar(&d.profile, "profile", false, "draw the mean of Y as a function of X")
	f.StringVarP(&d.out, "out", "o", "", "draw to the file `OUT`; its extension must be .png, .svg or .pdf")
	f.BoolVar(&d.asJSON, "json", false, "print the bins as JSON")
	f.BoolVar(&d.explain, "explain", false,
		"print the types of the expressions and the fields they read, and draw nothing")
	f.BoolVar(&d.noZones, "no-zones", false, "do not use zone maps")
	cli.NameFlag(cmd, &d.name, 0)
	f.StringVar(&d.units, "units", "",
		"draw the histograms that jobs have filled with --unit in the folder `DIR`; FILE is the plan")
	units.Flag(cmd, &unit)
	cli.ForceFlag(cmd, &d.force)
	source.SkipBadFlag(cmd, &d.skipBad)
	cmd.MarkFlagFilename("out", plot.Formats...)
	cli.CompleteValues(cmd, "log", "x", "y", "z")
	return cmd
}

func (d *drawing) checkArgs(args []string) error {
	switch {
	case len(args) == 0:
		return cli.UsageError("missing argument FILE")
	case len(d.expr) == 0 && (len(args) == 1 || isFileName(args[len(args)-1])):
		return cli.UsageError("missing argument EXPR after the files")
	}
	return nil
}

// isFileName reports whether an argument has the suffix of a format.
func isFileName(arg string) bool {
	_, err := foreign.BySuffix(arg)
	return err == nil
}

// complete completes files, and after the first one fields.
func (d *drawing) complete(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 || len(d.expr) > 0 {
		return cli.CompleteFiles(cmd, args, word)
	}
	r, err := rntuple.Open(args[0], d.name, nil)
	if err != nil {
		return cli.CompleteFiles(cmd, args, word)
	}
	defer r.Close()
	words := cli.PathsLike(r.Schema().Fields, word)
	if len(words) == 0 {
		return cli.CompleteFiles(cmd, args, word)
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// drawFiles draws the entries of files.
func drawFiles(ctx context.Context, t *cli.Tool, files []string, d *drawing, skipped []source.BadFile) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(d.out)), ".")
	switch {
	case d.out != "" && !slices.Contains(plot.Formats, format):
		return cli.UsageError("--out: the file extension must be .png, .svg or .pdf")
	case d.force && d.out == "":
		return cli.UsageError("--force requires --out")
	case d.explain && (d.out != "" || d.asJSON):
		return cli.UsageError("--explain draws nothing; omit --out and --json")
	}
	q, err := d.parse()
	if err != nil {
		return err
	}
	name := d.name
	var filled [][]byte
	if d.units != "" {
		if filled, files, name, err = loadUnits(ctx, t, files, d); err != nil {
			return err
		}
	}
	from, program, err := openQuery(ctx, t, files, name, q)
	if err != nil {
		return err
	}
	defer from.Close()
	named := from.Named
	if d.explain {
		_, err := t.Out.WriteString(program.Explain())
		return err
	}
	q.plan.Program = program
	if err := q.plan.Check(); err != nil {
		return named(err)
	}
	if d.out != "" {
		if err := t.Output.Begin(ctx, d.out, d.force, from.Paths...); err != nil {
			return err
		}
	}
	screen := screenOf(t.Stdout)
	if d.asJSON || d.out != "" || d.units != "" {
		q.plan.X.Most, q.plan.Y.Most = 100, 100
	} else {
		q.plan.X.Most, q.plan.Y.Most = screen.Width-10, screen.Height
	}
	zones := &rntuple.ZoneUse{Off: d.noZones}
	q.useZones(zones)
	var histograms []*draw.Histogram
	if d.units != "" {
		histograms, err = q.plan.Load(filled)
	} else {
		bar := t.Report.Bar("entries")
		q.plan.Progress = bar.Set
		histograms, err = q.plan.Fill(from.Entries)
		bar.Done()
	}
	if err != nil {
		return named(err)
	}
	selection.WarnOfZones(t.Report, zones)
	q.titles(histograms, from.Reader.Schema())
	p := q.picture(histograms, d)
	for i, h := range histograms {
		if h.Entries == 0 {
			t.Report.Warn("%s: no values to draw", q.plan.Curves[i].Label)
		} else if h.Inside() == 0 && !h.Profile && q.weight < 0 {
			t.Report.Warn("%s: no values in range", q.plan.Curves[i].Label)
		}
	}
	if d.out != "" {
		var b bytes.Buffer
		if err := plot.Write(&b, p, format); err != nil {
			return err
		}
		if err := t.Output.WriteFile(ctx, d.out, b.Bytes()); err != nil {
			return err
		}
	}
	switch {
	case d.asJSON:
		j := drawnOf(q, histograms, files)
		j.Skipped = skipped
		return text.JSON(t.Out, j)
	case d.out == "":
		if err := p.WriteText(t.Out, screen); err != nil {
			return err
		}
		fmt.Fprintln(t.Out)
	case t.Report.Quiet:
		return nil
	}
	return printStatistics(t, p, screen)
}

// drawUnits fills histograms with the entries of units, for draw with d.units.
func drawUnits(t *cli.Tool, cmd *cobra.Command, which string, files []string, d *drawing) error {
	if len(files) != 1 || d.out == "" || d.asJSON {
		return cli.UsageError(
			"--unit requires the plan in place of the files and a folder as --out, and excludes --json")
	}
	return units.Each(t, cmd, which, files[0], d.out, ".hist.json", d.work, func(o *units.Output) error {
		q, err := d.parse()
		if err != nil {
			return err
		}
		chain, err := o.Open(t.Input.Options(cmd.Context()))
		if err != nil {
			return err
		}
		defer chain.Close()
		if q.plan.Program, err = q.compile(chain); err != nil {
			return err
		}
		if err := q.plan.Check(); err != nil {
			return err
		}
		if !q.plan.Fixed() {
			return cli.UsageError(
				"--unit requires numbers and --range with both ends, so that all units have the same bins")
		}
		zones := &rntuple.ZoneUse{Off: d.noZones}
		q.useZones(zones)
		q.plan.X.Most, q.plan.Y.Most = 100, 100
		histograms, err := q.plan.Fill(chain)
		if err != nil {
			return err
		}
		selection.WarnOfZones(t.Report, zones)
		b, err := draw.Save(histograms)
		if err != nil {
			return err
		}
		return t.Output.WriteFile(cmd.Context(), o.Path(), b)
	})
}

// loadUnits returns the histograms that jobs have filled, by unit, and the first file of the plan
// with the name of its RNTuple.
func loadUnits(ctx context.Context, t *cli.Tool, args []string,
	d *drawing) (all [][]byte, files []string, name string, err error) {
	if len(args) != 1 || d.name != "" {
		return nil, nil, "", cli.UsageError("--units requires the plan in place of the files, and excludes --name")
	}
	plan, outputs, err := units.Collect(ctx, t, args[0], d.units, false)
	if err != nil {
		return nil, nil, "", err
	}
	if work := outputs[0].Work; work != d.work {
		return nil, nil, "", fmt.Errorf("%s: the units were made by another command: %s, not %s", d.units, work, d.work)
	}
	for _, o := range outputs {
		b, err := regular.ReadFile(o.Path())
		if err != nil {
			return nil, nil, "", err
		}
		all = append(all, b)
	}
	return all, []string{plan.Files[0].Path}, plan.Name, nil
}

// printStatistics prints the table of a picture, with the marks of several histograms.
func printStatistics(t *cli.Tool, p *draw.Picture, screen draw.Terminal) error {
	heads, last := slices.Clone(p.Heads), len(p.Heads)-1
	for i := range heads[:last] {
		heads[i] = ">" + heads[i]
	}
	table := text.NewTable(heads...)
	for i, row := range p.Rows {
		row = slices.Clone(row)
		if len(p.Rows) > 1 {
			row[last] = p.Mark(i, screen) + " " + row[last]
		}
		table.Row(row...)
	}
	return table.Print(t.Out)
}
