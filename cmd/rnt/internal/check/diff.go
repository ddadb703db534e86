package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/rntuple"
	differ "github.com/go-rntuple/go-rntuple/rntuple/compare"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// diffing holds the flags of diff.
type diffing struct {
	abs, rel       float64
	tolerances     []string
	fields         []string // patterns; all if empty
	layout, asJSON bool
}

func diffCommand(t *cli.Tool) *cobra.Command {
	var d diffing
	cmd := &cobra.Command{
		Use:   "diff A B [NTUPLE [NTUPLE_OF_B]]",
		Short: "Compare two RNTuples, or an RNTuple and a converted file",
		Long: `diff compares the fields of the RNTuples in the files A and B, and the values entry by
entry. It prints nothing if they are equal, regardless of clusters, encodings and
compression; with --layout it compares those as well.

For each field it prints the number of entries that differ, the first such entry, the
number of values that differ, and the largest absolute and relative differences. Floats
are equal within the tolerance of --abs, or of --rel times the larger magnitude; NaN
equals NaN.

A or B may be a TTree, or a Parquet, Arrow, CSV or JSON Lines file, to verify a
conversion. Types, descriptions and projections, which depend on the format, are then
not compared; the structure of values is, and so are fields that only one of them has.

The exit status is 0 if there is no difference, 1 if there is one, and 2 on error. With
--quiet nothing is printed.`,
		Example: "  rnt diff old.root new.root\n" +
			"  rnt diff --rel 1e-6 --tolerance Jet_pt=0.01 old.root new.root Events",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) < 2:
				return cli.UsageError("missing arguments A and B")
			case len(args) > 4:
				return cli.UsageError("unexpected arguments: " + strings.Join(args[4:], " "))
			}
			return nil
		},
		ValidArgsFunction: cli.CompleteArgs(2, 4),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := selection.CheckFields(cmd, d.fields); err != nil {
				return err
			}
			opts, err := d.options()
			if err != nil {
				return err
			}
			found, err := diff(cmd.Context(), t, args, d, opts)
			switch {
			case err != nil: // status 1 means differences
				return &cli.StatusError{Err: err, Status: cli.ExitUsage}
			case found:
				return &cli.StatusError{Status: cli.ExitError, Done: true}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.Float64Var(&d.abs, "abs", 0, "absolute tolerance for floats")
	f.Float64Var(&d.rel, "rel", 0, "relative tolerance for floats, as a fraction of the larger magnitude")
	f.StringArrayVar(&d.tolerances, "tolerance", nil,
		"tolerance of a field, FIELD=ABS or FIELD=ABS:REL; may be repeated")
	f.BoolVar(&d.layout, "layout", false, "also compare clusters, pages, encodings, compression and sizes")
	f.BoolVar(&d.asJSON, "json", false, "print JSON, including fields that differ within the tolerance")
	selection.FieldsFlag(cmd, &d.fields, "fields to compare", 0)
	return cmd
}

// options returns the options of package compare.
func (d *diffing) options() (*differ.Options, error) {
	opts := &differ.Options{Tolerance: differ.Tolerance{Abs: d.abs, Rel: d.rel}, Fields: map[string]differ.Tolerance{}}
	for _, text := range d.tolerances {
		wrong := cli.UsageError(fmt.Sprintf("--tolerance %s: want FIELD=ABS or FIELD=ABS:REL", text))
		at := strings.LastIndexByte(text, '=')
		if at <= 0 {
			return nil, wrong
		}
		first, second, both := strings.Cut(text[at+1:], ":")
		if !both {
			second = "0"
		}
		abs, err1 := strconv.ParseFloat(first, 64)
		rel, err2 := strconv.ParseFloat(second, 64)
		if err1 != nil || err2 != nil {
			return nil, wrong
		}
		opts.Fields[text[:at]] = differ.Tolerance{Abs: abs, Rel: rel}
	}
	return opts, nil
}

// diff compares two RNTuples, prints how they differ and reports whether they do.
func diff(ctx context.Context, t *cli.Tool, args []string, d diffing, opts *differ.Options) (found bool, err error) {
	sources, err := openBoth(ctx, t, args)
	for _, s := range sources {
		if s != nil {
			defer s.Close()
		}
	}
	if err != nil {
		return false, err
	}
	readers := [2]*rntuple.Reader{sources[0].Reader, sources[1].Reader}
	across := sources[0].Kind != foreign.RNTuple || sources[1].Kind != foreign.RNTuple
	var left []differ.Difference // what could not be read of files of other kinds
	for i, s := range sources {
		for _, err := range s.Left {
			d := differ.Difference{What: "cannot be read"}
			*[]*string{&d.A, &d.B}[i] = err.Error()
			left = append(left, d)
		}
	}
	if len(d.fields) > 0 {
		paths, err := commonChoice(readers, d.fields)
		if err != nil {
			return false, fmt.Errorf("%s: %w", cli.Shown(args[0]), err)
		}
		opts.Only = paths
	}
	bar := t.Report.Bar("values")
	opts.Progress = bar.Set
	result, err := differ.Values(ctx, readers[0], readers[1], opts)
	bar.Done()
	if err != nil {
		return false, err
	}
	if across {
		result.Schema = slices.DeleteFunc(result.Schema,
			func(d differ.Difference) bool { return explained(d, readers, result.Uncompared) })
		result.Schema = append(result.Schema, left...)
	}
	var layout []differ.Difference
	if d.layout {
		if layout, err = differ.Layout(readers[0], readers[1], opts); err != nil {
			return false, err
		}
	}
	found = !result.Equal() || len(layout) > 0
	switch {
	case t.Report.Quiet && !d.asJSON:
	case d.asJSON:
		err = text.JSON(t.Out, differenceOf(result, layout, found))
	default:
		err = printDifferences(t, result, layout)
	}
	return found, err
}

// openBoth opens what diff compares. Text is opened last, as values of the types that the other
// one has.
func openBoth(ctx context.Context, t *cli.Tool, args []string) (sources [2]*source.Source, err error) {
	order := []int{0, 1}
	if path, err := t.Input.File(ctx, args[0]); err == nil {
		if kind, _ := foreign.Detect(ctx, path, "", t.Input.Remote()); kind.IsText() {
			order = []int{1, 0}
		}
	}
	need := source.Part{Count: cli.All}
	for _, i := range order {
		one := args[i : i+1 : i+1]
		if names := args[2:]; len(names) > 0 {
			one = append(one, names[min(i, len(names)-1)])
		}
		if sources[i], err = source.OpenArgs(ctx, t, one, need); err != nil {
			return sources, err
		}
		need.Like = sources[i].Reader.Schema().Document()
	}
	return sources, nil
}

// explained reports whether RNTuples of which one stands for a file of another kind differ in a
// property for which that kind has no place, or in a field whose values others have, too. What
// keeps values from being compared is never explained.
func explained(d differ.Difference, readers [2]*rntuple.Reader, uncompared []string) bool {
	switch d.What {
	case "cannot be read":
		return false
	case "field":
		for _, r := range readers {
			for _, f := range r.Schema().Fields {
				if f.Name == d.Path && source.IsProjected(f, r.Schema()) {
					return true
				}
			}
		}
		return false
	}
	return !slices.Contains(uncompared, d.Path)
}

// commonChoice returns the paths of the fields of two RNTuples that patterns name.
// A field that only one of them has is a difference, not an error.
func commonChoice(readers [2]*rntuple.Reader, patterns []string) ([]string, error) {
	var all []string
	var failed error
	for _, p := range patterns {
		chosen, err := selection.Choose(readers[0].Schema(), []string{p})
		more, otherErr := selection.Choose(readers[1].Schema(), []string{p})
		if err != nil && otherErr != nil {
			failed = errors.Join(failed, err)
		}
		for _, f := range selection.Fields(append(chosen, more...)) {
			if path := f.Path(); !slices.Contains(all, path) {
				all = append(all, path)
			}
		}
	}
	return all, failed
}

// printDifferences prints what differs.
func printDifferences(t *cli.Tool, r *differ.Result, layout []differ.Difference) error {
	if r.Entries[0] != r.Entries[1] {
		fmt.Fprintf(t.Out, "%s entries, %s entries\n", text.Count(r.Entries[0]), text.Count(r.Entries[1]))
	}
	for _, part := range []struct {
		head string
		all  []differ.Difference
	}{{"SCHEMA", r.Schema}, {"LAYOUT", layout}} {
		if len(part.all) == 0 {
			continue
		}
		rows := text.NewTable(part.head, "OF", "A", "B")
		for _, d := range part.all {
			rows.Row(d.What, schema.Printable(d.Path), schema.Printable(d.A), schema.Printable(d.B))
		}
		if err := rows.Print(t.Out); err != nil {
			return err
		}
	}
	rows := text.NewTable("VALUES OF", ">ENTRIES", ">FIRST", ">VALUES", ">MAX ABS", ">MAX REL")
	for _, f := range r.Fields {
		if f.Entries > 0 {
			rows.Row(schema.Printable(f.Path), text.Count(f.Entries), text.Count(f.First), text.Count(f.Values),
				fmt.Sprintf("%.3g", f.MaxAbs), fmt.Sprintf("%.3g", f.MaxRel))
		}
	}
	if rows.Len() == 0 {
		return nil
	}
	return rows.Print(t.Out)
}

// differenceJSON is what `rnt diff --json` prints.
type differenceJSON struct {
	Equal     bool           `json:"equal"`
	Entries   [2]int64       `json:"entries"`
	Schema    []propertyJSON `json:"schema"`
	Fields    []valuesJSON   `json:"fields"`
	Layout    []propertyJSON `json:"layout,omitempty"`
	Identical int64          `json:"identical_pages"`
}

type propertyJSON struct {
	Field string `json:"field,omitempty"` // its path; absent if it is about the whole RNTuple
	What  string `json:"what"`
	A     string `json:"a"`
	B     string `json:"b"`
}

type valuesJSON struct {
	Field   string `json:"field"`
	Entries int64  `json:"entries"`
	First   *int64 `json:"first,omitempty"`
	Values  int64  `json:"values"`
	MaxAbs  float  `json:"max_abs"`
	MaxRel  float  `json:"max_rel"`
}

// A float is a number in JSON, or a string as in cat if JSON has no such number.
type float float64

func (f float) MarshalJSON() ([]byte, error) { return value.AppendJSON(nil, float64(f)), nil }

func differenceOf(r *differ.Result, layout []differ.Difference, found bool) differenceJSON {
	j := differenceJSON{Equal: !found, Entries: r.Entries, Schema: propertiesOf(r.Schema), Layout: propertiesOf(layout),
		Identical: r.Identical, Fields: []valuesJSON{}}
	for _, f := range r.Fields {
		j.Fields = append(j.Fields, valuesJSON{f.Path, f.Entries, known(f.First), f.Values, float(f.MaxAbs), float(f.MaxRel)})
	}
	return j
}

func propertiesOf(all []differ.Difference) []propertyJSON {
	j := []propertyJSON{}
	for _, d := range all {
		j = append(j, propertyJSON{d.Path, d.What, d.A, d.B})
	}
	return j
}
