package show

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// attributes says which attributes to print.
type attributes struct {
	set    string // all if empty
	entry  cli.Entries
	ofAll  bool // of all entries instead of one
	asJSON bool
}

func attrsCommand(t *cli.Tool) *cobra.Command {
	var sel attributes
	cmd := &cobra.Command{
		Use:   "attrs FILE [NTUPLE]",
		Short: "Print the attributes of ranges of entries",
		Long: `attrs lists the attribute sets linked to an RNTuple. With --set, it prints the
attributes of one set as JSON, one object per line, in the order in which they were
written: the range of entries, from first to end, excluding end, and the attributes in
the format of cat. With --entry, it prints the attributes of one entry, from all sets or
from the one selected by --set.`,
		Example: "  rnt attrs data.root\n" +
			"  rnt attrs data.root Events --set quality\n" +
			"  rnt attrs data.root Events --entry 1000 | jq .",
		Args:              cli.FileArgs(2),
		ValidArgsFunction: cli.CompleteArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			sel.ofAll = !cmd.Flags().Changed("entry")
			switch named := cmd.Flags().Changed("set"); {
			case named && sel.set == "":
				return cli.UsageError("--set is empty")
			case sel.asJSON && (named || !sel.ofAll):
				return cli.UsageError("--json applies only to the list of sets; attributes are always JSON")
			}
			return attrs(cmd.Context(), t, args, sel)
		},
	}
	cmd.Flags().StringVar(&sel.set, "set", "", "print the attributes of this set")
	cmd.Flags().Var(&sel.entry, "entry", "print the attributes of entry N, counted from 0")
	cmd.Flags().BoolVar(&sel.asJSON, "json", false, "print the list of sets as JSON")
	return cmd
}

func attrs(ctx context.Context, t *cli.Tool, args []string, sel attributes) error {
	r, err := source.OpenRNTuple(ctx, t, args)
	if err != nil {
		return err
	}
	defer r.Close()
	if n := r.NumEntries(); !sel.ofAll && int64(sel.entry) >= n {
		return fmt.Errorf("%s: no entry %d: the RNTuple has %d", cli.Shown(args[0]), sel.entry, n)
	}
	if sel.set == "" && sel.ofAll {
		return listSets(ctx, t, r, cli.Shown(args[0]), sel.asJSON)
	}
	names := []string{sel.set}
	if sel.set == "" {
		names = nil
		for _, s := range r.AttributeSets() {
			names = append(names, s.Name)
		}
	}
	for _, name := range names {
		if err := printAttributes(ctx, t, r, name, sel); err != nil {
			return fmt.Errorf("%s: %w", cli.Shown(args[0]), err)
		}
	}
	return nil
}

// printAttributes prints the attributes of one set.
func printAttributes(ctx context.Context, t *cli.Tool, r *rntuple.Reader, name string, sel attributes) error {
	set, err := r.OpenAttributes(name)
	if err != nil {
		return err
	}
	view, err := rntuple.AttributesOf[value.Record](set)
	if err != nil {
		return err
	}
	all := view.All()
	if !sel.ofAll {
		all = view.Holding(int64(sel.entry))
	}
	line := value.Record{Names: []string{"set", "first", "end", "attributes"}, Values: []any{name, nil, nil, nil}}
	if sel.set != "" {
		line.Names, line.Values = line.Names[1:], line.Values[1:]
	}
	n := len(line.Values)
	var text []byte
	for entries, values := range all {
		line.Values[n-3], line.Values[n-2], line.Values[n-1] = entries.First, entries.End, values
		text = append(value.AppendJSON(text[:0], line), '\n')
		if _, err := t.Out.Write(text); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return view.Err()
}

// setListing is a set in the JSON of attrs.
type setListing struct {
	attributeSet
	Attributes int        `json:"attributes"`
	Fields     []setField `json:"fields"`
	Error      string     `json:"error,omitempty"` // why it cannot be read
}

type setField struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// listSets lists the attribute sets of an RNTuple in the file at path.
func listSets(ctx context.Context, t *cli.Tool, r *rntuple.Reader, path string, asJSON bool) error {
	list := []setListing{}
	for _, s := range r.AttributeSets() {
		l := setListing{attributeSet: setOf(s), Fields: []setField{}}
		set, err := r.OpenAttributes(s.Name)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			t.Report.Incomplete = true
			l.Error = strings.TrimPrefix(cli.WithAdvice(err.Error()), fmt.Sprintf("attribute set %q: ", s.Name))
		default:
			l.Attributes = set.Len()
			for _, f := range set.Fields() {
				l.Fields = append(l.Fields, setField{f.Name, f.CppType()})
			}
		}
		list = append(list, l)
	}
	switch {
	case asJSON:
		return text.JSON(t.Out, list)
	case len(list) == 0:
		t.Report.Note("%s: RNTuple %q has no attribute sets", path, r.Name())
		return nil
	}
	table := text.NewTable("NAME", ">ATTRIBUTES", "SCHEMA", "FIELDS")
	for _, l := range list {
		if l.Error != "" {
			table.Row(schema.Printable(l.Name), "-", l.Schema, "cannot be read: "+schema.Printable(l.Error))
			continue
		}
		var fields []string
		for _, f := range l.Fields {
			fields = append(fields, schema.Printable(f.Name+" "+f.Type))
		}
		table.Row(schema.Printable(l.Name), text.Count(int64(l.Attributes)), l.Schema, strings.Join(fields, ", "))
	}
	return table.Print(t.Out)
}
