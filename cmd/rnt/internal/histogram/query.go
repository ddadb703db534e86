package histogram

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/internal/show/draw"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

// A query is what the flags of draw ask for.
type query struct {
	exprs  []*expression.Expression // all, as the program has them
	weight int                      // their number, or -1
	where  []*expression.Expression // those of them that are conditions
	plan   draw.Plan
	logs   string // the axes that are logarithmic
}

// useZones has zone maps, and a condition if it is the only one, tell which entries are drawn.
func (q *query) useZones(zones *rntuple.ZoneUse) {
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
		return 0, cli.UsageError(flag + "the expression is empty")
	}
	if i := slices.Index(q.plan.Names, text); i >= 0 {
		return i, nil
	}
	e, err := expression.Parse(text)
	if err != nil {
		return 0, cli.UsageError(flag + err.Error())
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
	definitions, err := selection.Untyped(d.define)
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
			return nil, cli.UsageError(fmt.Sprintf("%s: more than two dimensions cannot be drawn", text))
		case dimensions > 0 && len(parts) != dimensions:
			return nil, cli.UsageError("one- and two-dimensional histograms cannot be combined")
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
		return nil, cli.UsageError("more --label flags than histograms")
	}
	for i, label := range d.label {
		q.plan.Curves[i].Label = label
	}
	switch {
	case d.profile && dimensions < 2:
		return nil, cli.UsageError("--profile requires two expressions, Y:X")
	case dimensions == 2 && !d.profile && len(q.plan.Curves) > 1:
		return nil, cli.UsageError("two-dimensional histograms cannot be overlaid; consider --profile")
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
		return cli.UsageError("--bins: only one axis has bins")
	}
	if len(ranges) > len(axes) {
		return cli.UsageError("--range: only one axis has bins")
	}
	for i, text := range bins {
		if d.bins == "" || text == "" && len(bins) > 1 {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > draw.MaxBins {
			return cli.UsageError(fmt.Sprintf("--bins %s: want a number from 1 to %d", text, draw.MaxBins))
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
			return cli.UsageError(fmt.Sprintf("--range %s: %v", text, err))
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
			return cli.UsageError(fmt.Sprintf("--log %s: there is no axis %c", d.log, axis))
		}
	}
	q.plan.X.Log = strings.Contains(q.logs, "x")
	q.plan.Y.Log = len(axes) == 2 && strings.Contains(q.logs, "y")
	for _, a := range axes {
		if a.Log && a.Range.Low <= 0 {
			return cli.UsageError("--range: a logarithmic axis cannot include zero")
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

// openQuery opens files and compiles a query for them. Of files of other kinds than RNTuple it
// reads what the query needs.
func openQuery(ctx context.Context, t *cli.Tool, files []string, name string,
	q *query) (*source.Source, *expression.Program, error) {
	for need := (source.Part{}); ; {
		s, err := source.Open(ctx, t, files, name, need)
		if err != nil {
			return nil, nil, err
		}
		program, err := q.compile(s.Entries)
		if err != nil {
			s.Close()
			return nil, nil, s.Named(err)
		}
		if s.Kind == foreign.RNTuple || need.Count > 0 {
			return s, program, nil
		}
		s.Close()
		need = source.Part{Fields: program.Fields(), Count: cli.All}
	}
}
