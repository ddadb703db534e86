package show

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/selection"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

func statCommand(t *cli.Tool) *cobra.Command {
	var s stating
	cmd := &cobra.Command{
		Use:   "stat FILE [NTUPLE]",
		Short: "Print or draw the sizes of fields and columns on disk and in memory",
		Long: `stat prints the sizes of an RNTuple, its fields and its columns, and a summary of its
zone map, if any. It reads only metadata, and the pages of the zone map.

IN MEMORY is the size of the elements as ROOT counts it: 1 byte for a bool, 8 for an
offset. ON DISK is the size of the pages without checksums; RATIO is IN MEMORY divided
by ON DISK. ROOT stores identical pages once: SHARED is the part of ON DISK that is
shared with a column above, and % is the share of the rest in all pages.

A field with several columns has one line for itself and its subfields, and one for each
column, "#" and its number. Projected fields have no columns and are not shown.

With --map it draws the storage as SVG instead, with numbers on hover. A treemap has a
tile for each column, nested in its field: its area is the size on disk, its color the
ratio. A strip shows the offsets in the file from left to right, with a row for each
column and a color for each cluster: it shows how pages are interleaved, their sizes,
and the gaps between them. With more than 100 columns, rows are top-level fields, at
most the 100 largest.`,
		Example: "  rnt stat data.root --fields 'Muon_*'\n" +
			"  rnt stat --map map.svg data.root Events",
		Args:              cli.FileArgs(2),
		ValidArgsFunction: cli.CompleteArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := selection.CheckFields(cmd, s.fields); err != nil {
				return err
			}
			switch drawn := cmd.Flags().Changed("map"); {
			case drawn && s.picture == "":
				return cli.UsageError("--map: missing file name")
			case drawn && s.asJSON:
				return cli.UsageError("--map and --json cannot be combined")
			case s.force && !drawn:
				return cli.UsageError("--force requires --map")
			}
			return stat(cmd.Context(), t, args, s)
		},
	}
	selection.FieldsFlag(cmd, &s.fields, "fields to print", 0)
	cmd.Flags().BoolVar(&s.asJSON, "json", false, "print JSON, with sizes in bytes")
	cmd.Flags().StringVar(&s.picture, "map", "", "draw the storage as SVG to the file `OUT`; \"-\" is standard output")
	cmd.MarkFlagFilename("map", "svg")
	cli.ForceFlag(cmd, &s.force)
	return cmd
}

// stating holds the flags of stat.
type stating struct {
	fields        []string
	picture       string // the file to draw; nothing is drawn if it is empty
	asJSON, force bool
}

// stat prints or draws the sizes of the fields that match patterns, or of all if there
// are none.
func stat(ctx context.Context, t *cli.Tool, args []string, s stating) error {
	t.Input.TrustZones() // they are shown, not relied on
	r, err := source.OpenRNTuple(ctx, t, args)
	if err != nil {
		return err
	}
	defer r.Close()
	chosen, err := selection.Choose(r.Schema(), s.fields)
	if err != nil {
		return fmt.Errorf("%s: %w", cli.Shown(args[0]), err)
	}
	if s.picture != "" && s.picture != "-" {
		path, err := t.Input.Root(ctx, args[0])
		if err != nil {
			return err
		}
		if err := t.Output.Begin(ctx, s.picture, s.force, path); err != nil {
			return err
		}
	}
	fields := r.Schema().TopLevel()
	if len(s.fields) > 0 {
		fields = selection.Fields(chosen)
	}
	bar := t.Report.Bar("page lists")
	i, err := r.Inspect(func(done, total int) { bar.Set(int64(done), int64(total)) })
	bar.Done()
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", cli.Shown(args[0]), err)
	case s.picture != "":
		if len(s.fields) == 0 {
			fields = nil // all, and metadata
		}
		return writeMap(ctx, t, r, i, cli.Shown(args[0]), s.picture, fields)
	case s.asJSON:
		m, err := r.ZoneMap()
		if err != nil {
			return err
		}
		return text.JSON(t.Out, statOf(r, i, m, fields))
	}
	return printStat(t, r, i, fields)
}

// printStat prints the sizes of an RNTuple, and of the given fields with all below
// them.
func printStat(t *cli.Tool, r *rntuple.Reader, i *rntuple.Inspection, fields []*schema.Field) error {
	fmt.Fprintf(t.Out, "RNTuple %q: %s entries, %s in %s\n", r.Name(), text.Count(i.Entries),
		text.Plural(i.Clusters, "cluster"), text.Plural(i.ClusterGroups, "cluster group"))
	words, _ := settings(i.Compression())
	if len(words) > 0 {
		fmt.Fprintf(t.Out, "compression: %s\n", strings.Join(words, ", "))
	}
	if err := printZones(t, r); err != nil {
		return err
	}
	fmt.Fprintln(t.Out)

	sum := text.NewTable("", ">ON DISK", ">IN MEMORY", ">RATIO", "")
	total := i.Total
	envelope := func(name string, e rntuple.EnvelopeSize) {
		sum.Row(name, text.Size(int64(e.Disk)), text.Size(int64(e.Length)), ratio(int64(e.Length), int64(e.Disk)))
	}
	envelope("header", i.Header)
	envelope("footer", i.Footer)
	envelope("page lists", i.PageLists)
	remark := text.Count(total.Pages) + " pages"
	if total.Shared > 0 {
		remark += fmt.Sprintf(", of which %s share %s with others", text.Count(total.Shared), text.Size(total.SharedDisk))
	}
	sum.Row("pages", text.Size(total.OwnDisk()), text.Size(total.Memory), ratio(total.Memory, total.OwnDisk()), remark)
	sum.Row("checksums", text.Size(total.ChecksumDisk), "", "", checksummed(total))
	sum.Row("total", text.Size(i.Disk()))
	if err := sum.Print(t.Out); err != nil {
		return err
	}

	fmt.Fprintln(t.Out)
	heads := []string{"FIELD", "TYPE", "ENCODING", ">ELEMENTS", ">PAGES", ">IN MEMORY", ">RATIO", ">ON DISK", ">%"}
	if total.Shared > 0 {
		heads = append(heads, ">SHARED")
	}
	s := statTable{Table: text.NewTable(heads...), inspection: i}
	for _, f := range fields {
		s.field(f, "", "")
	}
	if err := s.Print(t.Out); err != nil {
		return err
	}
	if s.projected > 0 {
		fmt.Fprintf(t.Out, "\nnot shown: %s, without columns\n", text.Plural(s.projected, "projected field"))
	}
	return nil
}

// printZones prints what the zone map of an RNTuple has, if there is one.
func printZones(t *cli.Tool, r *rntuple.Reader) error {
	m, err := r.ZoneMap()
	if err != nil {
		return err
	}
	for _, problem := range m.Problems {
		t.Report.Warn("RNTuple %q: %s; rnt index rebuilds it", r.Name(), problem)
	}
	if paths, clusters := m.Fields(); len(paths) > 0 {
		fmt.Fprintf(t.Out, "zone map: bounds of %s in %s\n", text.Plural(len(paths), "field"),
			text.Plural(slices.Max(clusters), "cluster"))
	}
	return nil
}

// statTable is the table of fields and columns.
type statTable struct {
	*text.Table
	inspection *rntuple.Inspection
	projected  int // fields that it leaves out
}

// field adds the lines of f, its columns and the fields below it. The name is drawn
// after prefix, the fields below it after indent.
func (s *statTable) field(f *schema.Field, prefix, indent string) {
	if f.Source != nil {
		s.projected++
		return
	}
	name, typ := f.Path(), schema.Printable(f.CppType())
	if prefix != "" {
		name = f.Name // the tree shows the rest
	}
	name = prefix + schema.Printable(name)
	var columns []rntuple.ColumnInspection
	for _, representation := range f.Columns {
		for _, c := range representation {
			columns = append(columns, s.inspection.Columns[c.ID])
		}
	}
	if len(columns) == 1 && len(f.Children) == 0 {
		s.line(name, typ, columns[0].Column.Format().String(), text.Count(columns[0].Elements), columns[0].Storage)
		return
	}
	s.line(name, typ, "", "", s.inspection.Field(f))
	below := len(columns) + len(f.Children)
	next := func() (prefix, deeper string) {
		if below--; below == 0 {
			return indent + "└─ ", indent + "   "
		}
		return indent + "├─ ", indent + "│  "
	}
	for _, c := range columns {
		prefix, _ := next()
		encoding := c.Column.Format().String()
		if len(f.Columns) > 1 {
			encoding += fmt.Sprintf(" (representation %d)", c.Column.Representation)
		}
		s.line(fmt.Sprintf("%s#%d", prefix, c.Column.ID), "", encoding, text.Count(c.Elements), c.Storage)
	}
	for _, child := range f.Children {
		prefix, deeper := next()
		s.field(child, prefix, deeper)
	}
}

func (s *statTable) line(name, typ, encoding, elements string, c rntuple.Storage) {
	share := ""
	if total := s.inspection.Total.OwnDisk(); total > 0 {
		share = fmt.Sprintf("%.1f", 100*float64(c.OwnDisk())/float64(total))
	}
	cells := []string{name, typ, encoding, elements, text.Count(c.Pages), text.Size(c.Memory), ratio(c.Memory, c.Disk),
		text.Size(c.Disk), share}
	if c.Shared > 0 {
		cells = append(cells, text.Size(c.SharedDisk))
	}
	s.Row(cells...)
}

// ratio returns how much smaller disk is than memory: "3.2".
func ratio(memory, disk int64) string {
	if disk <= 0 {
		return ""
	}
	r := float64(memory) / float64(disk)
	if r >= 99.95 {
		return text.Count(int64(r + 0.5))
	}
	return fmt.Sprintf("%.1f", r)
}

// checksummed says in words which pages have checksums.
func checksummed(s rntuple.Storage) string {
	switch stored := s.Pages - s.Shared; s.Checksums {
	case 0:
		return "none"
	case stored:
		return "all pages"
	default:
		return fmt.Sprintf("%s of %s pages", text.Count(s.Checksums), text.Count(stored))
	}
}
