package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/plot"
	"github.com/go-rntuple/go-rntuple/internal/show/draw"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
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

func (t *tool) drawCommand() *cobra.Command {
	var d drawing
	var unit string
	cmd := &cobra.Command{
		Use:   "draw FILE... EXPR",
		Short: "Draw a histogram of an expression",
		Long: `draw fills the values that EXPR has in the entries of the RNTuples in the files into a
histogram and draws it: with characters as wide as the terminal, as PNG, SVG or PDF
with --out, or as its bins with --json.

EXPR is an expression whose variables are the fields; "rnt help expressions" describes
the language and its functions. An array is filled item by item; with it go the items
of other arrays of the same length, as a second coordinate, weight or condition, and
single values for all of its items. Missing values, as Muon_pt[0] where there is no
muon, are not filled, nor is what is not a number. Strings are counted by value.

Y:X, as in ROOT's TTree::Draw, draws two dimensions, or with --profile the mean of Y
over X with its standard error. Several -e or several --where are drawn over each
other: every expression for every condition.

Without --range, the range is found first, and rounded; bins of whole numbers are
centred at them. One end may be left out: 0: begins at zero. Without --bins there are
as many round ones as the terminal has columns, at most 100 otherwise. With --log x
the bins are equal on a logarithmic scale. A bin includes its lower edge, not its
upper one. The mean and the standard deviation are those of the values in the range,
as ROOT computes them. Clusters in which no --where can be true are not read if a file
has a zone map, which "rnt index" makes. NO_COLOR and a locale without UTF-8 are respected.

` + skipBadHelp,
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
			d.work = workOf(cmd, d.expr...)
			if unit != "" {
				return t.drawUnits(cmd, unit, files, &d)
			}
			if d.skipBad && d.units != "" {
				return usageError("--skip-bad cannot be combined with --units")
			}
			bad := t.bad(cmd.Context(), d.skipBad, d.out, d.force, d.name)
			return t.without(cmd.Context(), bad, files, func(files []string) error { return t.draw(cmd.Context(), files, &d) })
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&d.expr, "expr", "e", nil, "an `EXPR` to draw, repeated for more; all arguments are then files")
	f.StringArrayVar(&d.where, "where", nil, "draw only entries, or items, for which `COND` is true; given again, of a histogram of its own (&& joins conditions)")
	f.StringVar(&d.weight, "weight", "", "fill with the weight `EXPR`")
	f.StringArrayVar(&d.label, "label", nil, "`NAME` of a histogram, repeated in their order (default what it draws)")
	defineFlag(cmd, &d.define, "a name for an expression, `NAME=EXPR`, repeated for more")
	f.StringVar(&d.bins, "bins", "", "`N` bins, or N,M of x and y")
	f.StringVar(&d.ranges, "range", "", "from `LOW:HIGH`, or two such of x and y: -5:5,0:100")
	f.StringVar(&d.log, "log", "", "`AXES` that are logarithmic: x, y, z, or several of them")
	f.BoolVar(&d.profile, "profile", false, "draw the mean of Y over X")
	f.StringVarP(&d.out, "out", "o", "", "draw to the file `OUT`, which ends in .png, .svg or .pdf")
	f.BoolVar(&d.asJSON, "json", false, "print the bins as JSON")
	f.BoolVar(&d.explain, "explain", false, "print the types of the expressions and the fields that they read, and draw nothing")
	f.BoolVar(&d.noZones, "no-zones", false, "do not use zone maps")
	f.StringVar(&d.name, "name", "", "name of the RNTuples (default the only one of each file)")
	f.StringVar(&d.units, "units", "", "draw what jobs have filled with --unit in the folder `DIR`; FILE is the plan")
	unitFlag(cmd, &unit)
	forceFlag(cmd, &d.force)
	skipBadFlag(cmd, &d.skipBad)
	completeNames(cmd, "name", 0)
	cmd.MarkFlagFilename("out", plot.Formats...)
	completeValues(cmd, "log", "x", "y", "z")
	return cmd
}

func (d *drawing) checkArgs(args []string) error {
	switch {
	case len(args) == 0:
		return usageError("which file?")
	case len(d.expr) == 0 && (len(args) == 1 || isFileName(args[len(args)-1])):
		return usageError("which expression? It comes after the files")
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
		return completeFiles(cmd, args, word)
	}
	r, err := rntuple.Open(args[0], d.name)
	if err != nil {
		return completeFiles(cmd, args, word)
	}
	defer r.Close()
	words := pathsLike(r.Schema().Fields, word)
	if len(words) == 0 {
		return completeFiles(cmd, args, word)
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// draw draws the entries of files.
func (t *tool) draw(ctx context.Context, files []string, d *drawing) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(d.out)), ".")
	switch {
	case d.out != "" && !slices.Contains(plot.Formats, format):
		return usageError("--out: the name of the file must end in .png, .svg or .pdf")
	case d.force && d.out == "":
		return usageError("--force goes with --out only")
	case d.explain && (d.out != "" || d.asJSON):
		return usageError("--explain draws nothing; leave out --out and --json")
	}
	q, err := d.parse()
	if err != nil {
		return err
	}
	name := d.name
	var filled [][]byte
	if d.units != "" {
		if filled, files, name, err = t.filled(ctx, files, d); err != nil {
			return err
		}
	}
	source, program, err := t.openQuery(ctx, files, name, q)
	if err != nil {
		return err
	}
	defer source.Close()
	named := source.named
	if d.explain {
		_, err := t.out.WriteString(program.Explain())
		return err
	}
	q.plan.Program = program
	if err := q.plan.Check(); err != nil {
		return named(err)
	}
	if d.out != "" {
		if err := t.beginOutput(ctx, d.out, d.force, source.paths...); err != nil {
			return err
		}
	}
	screen := t.screen()
	if d.asJSON || d.out != "" || d.units != "" {
		q.plan.X.Most, q.plan.Y.Most = 100, 100
	} else {
		q.plan.X.Most, q.plan.Y.Most = screen.Width-10, screen.Height
	}
	zones := &zonemap.Use{Off: d.noZones}
	q.useZones(zones)
	var histograms []*draw.Histogram
	if d.units != "" {
		histograms, err = q.plan.Load(filled)
	} else {
		bar := t.bar("entries")
		q.plan.Progress = bar.setOf
		histograms, err = q.plan.Fill(source.entries)
		bar.done()
	}
	if err != nil {
		return named(err)
	}
	t.warnOfZones(zones)
	q.titles(histograms, source.first.Schema())
	p := q.picture(histograms, d)
	for i, h := range histograms {
		if h.Entries == 0 {
			t.warn("%s: no value to draw", q.plan.Curves[i].Label)
		} else if h.Inside() == 0 && !h.Profile && q.weight < 0 {
			t.warn("%s: no value in the range", q.plan.Curves[i].Label)
		}
	}
	if d.out != "" {
		var b bytes.Buffer
		if err := plot.Write(&b, p, format); err != nil {
			return err
		}
		if err := t.writeFile(ctx, d.out, b.Bytes()); err != nil {
			return err
		}
	}
	switch {
	case d.asJSON:
		j := drawnOf(q, histograms, files)
		j.Skipped = t.skipped
		return printJSON(t.out, j)
	case d.out == "":
		if err := p.WriteText(t.out, screen); err != nil {
			return err
		}
		fmt.Fprintln(t.out)
	case t.quiet:
		return nil
	}
	return t.printStatistics(p, screen)
}

// drawUnits fills histograms with the entries of units, for draw with d.units.
func (t *tool) drawUnits(cmd *cobra.Command, which string, files []string, d *drawing) error {
	if len(files) != 1 || d.out == "" || d.asJSON {
		return usageError("--unit takes the plan in the place of the files, a folder as --out, and no --json")
	}
	return t.eachUnit(cmd, which, files[0], d.out, ".hist.json", d.work, func(o *unitOutput) error {
		q, err := d.parse()
		if err != nil {
			return err
		}
		source, err := o.plan.Open(o.number, append(t.reading(), rntuple.Context(cmd.Context()))...)
		if err != nil {
			return err
		}
		defer source.Close()
		if q.plan.Program, err = q.compile(source); err != nil {
			return err
		}
		if err := q.plan.Check(); err != nil {
			return err
		}
		if !q.plan.Fixed() {
			return usageError("--unit draws numbers and needs --range with both ends, so that all units have the same bins")
		}
		zones := &zonemap.Use{Off: d.noZones}
		q.useZones(zones)
		q.plan.X.Most, q.plan.Y.Most = 100, 100
		histograms, err := q.plan.Fill(source)
		if err != nil {
			return err
		}
		t.warnOfZones(zones)
		b, err := draw.Save(histograms)
		if err != nil {
			return err
		}
		return t.writeFile(cmd.Context(), o.path(), b)
	})
}

// withPath returns an error of a chain, which says which file it is about, without saying so twice.
func withPath(err error) error {
	var in *rntuple.InputError
	if errors.As(err, &in) && strings.Contains(in.Err.Error(), remote.Redact(in.Path)) {
		return in.Err
	}
	return err
}

// openQuery opens files and compiles a query for them. Of files of other kinds than RNTuple it
// reads what the query needs.
func (t *tool) openQuery(ctx context.Context, files []string, name string, q *query) (*source, *expression.Program, error) {
	for need := (part{}); ; {
		s, err := t.openSource(ctx, files, name, need)
		if err != nil {
			return nil, nil, err
		}
		program, err := q.compile(s.entries)
		if err != nil {
			s.Close()
			return nil, nil, s.named(err)
		}
		if s.kind == foreign.RNTuple || need.count > 0 {
			return s, program, nil
		}
		s.Close()
		need = part{fields: program.Fields(), count: all}
	}
}

// printStatistics prints the table of a picture, with the marks of several histograms.
func (t *tool) printStatistics(p *draw.Picture, screen draw.Terminal) error {
	heads, last := slices.Clone(p.Heads), len(p.Heads)-1
	for i := range heads[:last] {
		heads[i] = ">" + heads[i]
	}
	table := newTable(heads...)
	for i, row := range p.Rows {
		row = slices.Clone(row)
		if len(p.Rows) > 1 {
			row[last] = p.Mark(i, screen) + " " + row[last]
		}
		table.row(row...)
	}
	return table.print(t.out)
}

// A query is what the flags of draw ask for.
type query struct {
	exprs  []*expression.Expression // all, as the program has them
	weight int                      // their number, or -1
	where  []*expression.Expression // those of them that are conditions
	plan   draw.Plan
	logs   string // the axes that are logarithmic
}

// useZones has zone maps, and a condition if it is the only one, tell which entries are drawn.
func (q *query) useZones(zones *zonemap.Use) {
	if len(q.where) == 1 && q.plan.Program.Type(q.plan.Curves[0].Where).Depth == 0 {
		q.plan.Condition = q.where[0].ConditionUsing(zones)
	}
	if len(q.where) > 0 {
		q.plan.Possible = func(s rntuple.Source, r rntuple.EntryRange) iter.Seq2[rntuple.EntryRange, error] {
			return expression.Possible(s, r, zones, q.where...)
		}
	}
}

// add adds an expression, unless there is one of that text, and returns its number.
func (q *query) add(flag, text string, d []expression.Definition) (int, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, usageError(flag + "the expression is empty")
	}
	if i := slices.Index(q.plan.Names, text); i >= 0 {
		return i, nil
	}
	e, err := expression.Parse(text)
	if err != nil {
		return 0, usageError(flag + err.Error())
	}
	q.exprs, q.plan.Names = append(q.exprs, e.With(d...)), append(q.plan.Names, text)
	return len(q.exprs) - 1, nil
}

// compile returns the program of the expressions. If there are several, an error says which one it
// is about.
func (q *query) compile(s rntuple.Source) (*expression.Program, error) {
	program, err := expression.Compile(s, q.exprs...)
	if err != nil && len(q.exprs) > 1 {
		for i, e := range q.exprs {
			if _, err := expression.Compile(s, e); err != nil {
				return nil, fmt.Errorf("%s: %w", q.plan.Names[i], err)
			}
		}
	}
	return program, err
}

// parse returns what the flags ask for.
func (d *drawing) parse() (*query, error) {
	definitions, err := untyped(d.define)
	if err != nil {
		return nil, err
	}
	q := &query{weight: -1, plan: draw.Plan{Profile: d.profile}}
	if d.weight != "" {
		if q.weight, err = q.add("--weight: ", d.weight, definitions); err != nil {
			return nil, err
		}
	}
	where := []int{}
	for _, text := range d.where {
		i, err := q.add("--where: ", text, definitions)
		if err != nil {
			return nil, err
		}
		where, q.where = append(where, i), append(q.where, q.exprs[i])
	}
	if len(where) == 0 {
		where = []int{-1}
	}
	dimensions := 0
	for _, text := range d.expr {
		parts := syntax.Split(text)
		switch {
		case len(parts) > 2:
			return nil, usageError(fmt.Sprintf("%s: more than two dimensions cannot be drawn", text))
		case dimensions > 0 && len(parts) != dimensions:
			return nil, usageError("one and two dimensions do not go together")
		}
		dimensions = len(parts)
		slices.Reverse(parts) // x first
		curve := draw.Curve{Y: -1, Weight: q.weight}
		if curve.X, err = q.add("", parts[0], definitions); err != nil {
			return nil, err
		}
		if dimensions == 2 {
			if curve.Y, err = q.add("", parts[1], definitions); err != nil {
				return nil, err
			}
		}
		for _, w := range where {
			curve.Where, curve.Label = w, curveLabel(strings.TrimSpace(text), w, q, d)
			q.plan.Curves = append(q.plan.Curves, curve)
		}
	}
	if len(d.label) > len(q.plan.Curves) {
		return nil, usageError("there are more --label than histograms")
	}
	for i, label := range d.label {
		q.plan.Curves[i].Label = label
	}
	switch {
	case d.profile && dimensions < 2:
		return nil, usageError("--profile needs two expressions, Y:X")
	case dimensions == 2 && !d.profile && len(q.plan.Curves) > 1:
		return nil, usageError("several histograms of two dimensions cannot be drawn over each other; there is --profile")
	}
	return q, d.binning(q, dimensions)
}

// curveLabel returns the name of a histogram.
func curveLabel(text string, where int, q *query, d *drawing) string {
	switch {
	case where < 0:
		return text
	case len(d.expr) == 1 && len(d.where) > 1:
		return q.plan.Names[where]
	}
	return text + " where " + q.plan.Names[where]
}

// binning sets the bins of a query.
func (d *drawing) binning(q *query, dimensions int) error {
	q.plan.X.Range, q.plan.Y.Range = draw.Auto, draw.Auto
	axes := []*draw.Binning{&q.plan.X}
	if dimensions == 2 && !d.profile {
		axes = append(axes, &q.plan.Y)
	}
	bins, ranges := strings.Split(d.bins, ","), strings.Split(d.ranges, ",")
	if len(bins) > len(axes) {
		return usageError("--bins: there is one axis with bins")
	}
	if len(ranges) > len(axes) {
		return usageError("--range: there is one axis with bins")
	}
	for i, text := range bins {
		if d.bins == "" || text == "" && len(bins) > 1 {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > draw.MaxBins {
			return usageError(fmt.Sprintf("--bins %s: want a number from 1 to %d", text, draw.MaxBins))
		}
		axes[i].Bins = n
		if len(bins) == 1 && len(axes) == 2 {
			axes[1].Bins = n
		}
	}
	for i, text := range ranges {
		if d.ranges == "" || text == "" && len(ranges) > 1 {
			continue
		}
		r, err := parseRange(text)
		if err != nil {
			return usageError(fmt.Sprintf("--range %s: %v", text, err))
		}
		axes[i].Range = r
	}
	q.logs = strings.ReplaceAll(d.log, ",", "")
	known := "xy"
	if len(axes) == 2 {
		known = "xyz"
	}
	for _, axis := range q.logs {
		if !strings.ContainsRune(known, axis) {
			return usageError(fmt.Sprintf("--log %s: there is no axis %c", d.log, axis))
		}
	}
	q.plan.X.Log = strings.Contains(q.logs, "x")
	q.plan.Y.Log = len(axes) == 2 && strings.Contains(q.logs, "y")
	for _, a := range axes {
		if a.Log && a.Range.Low <= 0 {
			return usageError("--range: a logarithmic axis has no zero")
		}
	}
	return nil
}

// parseRange returns the range LOW:HIGH, of which one end may be empty.
func parseRange(text string) (draw.Range, error) {
	low, high, ok := strings.Cut(text, ":")
	if !ok || low == "" && high == "" {
		return draw.Auto, errors.New("want LOW:HIGH")
	}
	r := draw.Auto
	for _, end := range []struct {
		text string
		to   *float64
	}{{low, &r.Low}, {high, &r.High}} {
		if end.text == "" {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(end.text), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return r, fmt.Errorf("%q is not a number", end.text)
		}
		*end.to = v
	}
	if r.Low >= r.High {
		return r, errors.New("the range is empty")
	}
	return r, nil
}
