package show

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/internal/show/storagemap"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// writeMap writes the picture of the storage of fields, or of the whole RNTuple if
// fields is nil, to the file out, or to standard output for "-".
func writeMap(ctx context.Context, t *cli.Tool, r *rntuple.Reader, i *rntuple.Inspection, file, out string,
	fields []*schema.Field) error {
	p, err := pictureOf(ctx, r, i, fields)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	p.Title = fmt.Sprintf("%s in %s", schema.Printable(r.Name()), schema.Printable(filepath.Base(file)))
	if out == "-" {
		return p.Write(t.Out)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return err
	}
	return t.Output.WriteFile(ctx, out, b.Bytes())
}

// pictureOf returns the picture of the storage of fields, or of the whole RNTuple if
// fields is nil.
func pictureOf(ctx context.Context, r *rntuple.Reader, i *rntuple.Inspection,
	fields []*schema.Field) (*storagemap.Picture, error) {
	words, _ := settings(i.Compression())
	p := &storagemap.Picture{
		Subtitle: fmt.Sprintf("%s in %s; %s on disk; pages %s%s",
			text.PluralOf(i.Entries, "entry", "entries"), text.Plural(i.Clusters, "cluster"), text.Size(i.Disk()),
			text.Size(i.Total.OwnDisk()), smaller(i.Total.Memory, i.Total.OwnDisk())),
		Storage:  storageTree(i, r.Schema(), fields),
		Clusters: i.Clusters,
		Size:     text.Size,
		Hover:    hover,
	}
	if len(words) > 0 {
		p.Subtitle += "; " + strings.Join(words, ", ")
	}
	columns, err := storagemap.Extents(ctx, r)
	if err != nil {
		return nil, err
	}
	meta := storagemap.Envelopes(r)
	if r.FileInfo().Objects {
		storagemap.Pack(append(columns, meta))
	}
	p.All = slices.Concat(append(columns, meta)...)
	if fields == nil {
		fields = r.Schema().TopLevel()
	}
	p.Rows, p.Note = mapRows(i, fields, columns)
	if i.Total.Pages > 0 {
		p.Note += fmt.Sprintf(" %s, %s on average.", text.PluralOf(i.Total.Pages, "page", "pages"),
			text.Size(i.Total.Disk/i.Total.Pages))
	}
	return p, nil
}

// smaller says how much smaller disk is than memory, nothing if nothing is on disk.
func smaller(memory, disk int64) string {
	if disk <= 0 {
		return ""
	}
	return fmt.Sprintf(", %s times smaller than in memory", ratio(memory, disk))
}

// storageTree returns the tree of the sizes of fields, or of everything if fields is nil.
// The leaves have the space that they occupy on disk: bytes that several columns share
// belong to the first.
func storageTree(i *rntuple.Inspection, s *schema.Schema, fields []*schema.Field) *storagemap.Node {
	root := &storagemap.Node{}
	if fields == nil {
		fields = s.TopLevel()
		meta := &storagemap.Node{Name: "metadata"}
		add := func(name string, disk int64) {
			meta.Children = append(meta.Children,
				&storagemap.Node{Name: name, Lines: []string{text.Size(disk)}, Title: name + ": " + text.Size(disk), Size: disk})
		}
		add("header", int64(i.Header.Disk))
		add("footer", int64(i.Footer.Disk))
		add("page lists", int64(i.PageLists.Disk))
		add("checksums", i.Total.ChecksumDisk)
		root.Children = append(root.Children, meta)
	}
	for _, f := range fields {
		root.Children = append(root.Children, fieldNode(i, f))
	}
	root.Sum()
	return root
}

// fieldNode returns the node of a field, with nodes for what is below it and for its
// columns if there are several.
func fieldNode(i *rntuple.Inspection, f *schema.Field) *storagemap.Node {
	n := &storagemap.Node{Name: schema.Printable(f.Path())}
	for _, c := range columnsOf(i, f) {
		leaf := storageNode(columnName(i, f, c), c.Storage)
		leaf.Title = fmt.Sprintf("%s, column #%d\n%s as %s\n%s, %s", n.Name, c.Column.ID,
			schema.Printable(f.CppType()), c.Column.Format(),
			text.PluralOf(c.Elements, "element", "elements"), leaf.Title)
		n.Children = append(n.Children, leaf)
	}
	for _, child := range f.Children {
		n.Children = append(n.Children, fieldNode(i, child))
	}
	switch {
	case len(f.Columns) > 0 && len(n.Children) == 1:
		return n.Children[0]
	case len(n.Children) > 0:
		sum := storageNode(n.Name, i.Field(f))
		n.Lines, n.Ratio = sum.Lines, sum.Ratio
		n.Title = fmt.Sprintf("%s and its subfields\n%s\n%s", n.Name, schema.Printable(f.CppType()), sum.Title)
	}
	return n
}

func storageNode(name string, s rntuple.Storage) *storagemap.Node {
	n := &storagemap.Node{Name: name, Size: s.OwnDisk(), Lines: []string{text.Size(s.OwnDisk())}}
	n.Title = fmt.Sprintf("%s, %s in memory, %s on disk", text.PluralOf(s.Pages, "page", "pages"),
		text.Size(s.Memory), text.Size(s.Disk))
	if s.Disk > 0 {
		n.Ratio = float64(s.Memory) / float64(s.Disk)
		n.Lines = append(n.Lines, "÷ "+ratio(s.Memory, s.Disk))
		n.Title += smaller(s.Memory, s.Disk)
	}
	if s.SharedDisk > 0 {
		n.Title += fmt.Sprintf("; shares %s with columns before it", text.Size(s.SharedDisk))
	}
	return n
}

// columnsOf returns the columns of f itself.
func columnsOf(i *rntuple.Inspection, f *schema.Field) (columns []rntuple.ColumnInspection) {
	if f.Source != nil {
		return nil
	}
	for _, representation := range f.Columns {
		for _, c := range representation {
			columns = append(columns, i.Columns[c.ID])
		}
	}
	return columns
}

// columnName returns the path of f with the number of its column c, which is left out if
// the field has nothing else.
func columnName(i *rntuple.Inspection, f *schema.Field, c rntuple.ColumnInspection) string {
	name := schema.Printable(f.Path())
	if len(columnsOf(i, f))+len(f.Children) > 1 {
		name = fmt.Sprintf("%s #%d", name, c.Column.ID)
	}
	return name
}

// mapRows returns the rows of the strip, in the order of the schema, and what they are:
// columns, or fields with all below them if there are too many columns. Of too many
// fields the largest have rows of their own, and the others one together, which is the
// last.
func mapRows(i *rntuple.Inspection, fields []*schema.Field,
	columns [][]storagemap.Extent) (rows []storagemap.Row, note string) {
	var walk func(f *schema.Field, visit func(f *schema.Field, c rntuple.ColumnInspection))
	walk = func(f *schema.Field, visit func(f *schema.Field, c rntuple.ColumnInspection)) {
		for _, c := range columnsOf(i, f) {
			visit(f, c)
		}
		for _, child := range f.Children {
			walk(child, visit)
		}
	}
	for _, f := range fields {
		walk(f, func(f *schema.Field, c rntuple.ColumnInspection) {
			rows = append(rows, storagemap.Row{Name: columnName(i, f, c), Extents: columns[c.Column.ID]})
		})
	}
	note = "A row for each column."
	if len(rows) > storagemap.MaxRows {
		note = fmt.Sprintf("A row for each top-level field, since there are %s columns.", text.Count(int64(len(rows))))
		rows = nil
		for _, f := range fields {
			row := storagemap.Row{Name: schema.Printable(f.Path())}
			walk(f, func(_ *schema.Field, c rntuple.ColumnInspection) {
				row.Extents = append(row.Extents, columns[c.Column.ID]...)
			})
			if len(row.Extents) > 0 {
				rows = append(rows, row)
			}
		}
	}
	if len(rows) > storagemap.MaxRows {
		rows, note = largestRows(rows)
	}
	for n, r := range rows {
		rows[n].Title = fmt.Sprintf("%s: %s, %s", r.Name, text.Plural(len(r.Extents), "page"),
			text.Size(storagemap.Bytes(r.Extents)))
	}
	return rows, note
}

// largestRows returns as many rows as there may be, and what they are.
func largestRows(rows []storagemap.Row) ([]storagemap.Row, string) {
	sizes := map[int]int64{}
	order := make([]int, len(rows))
	for n, r := range rows {
		order[n], sizes[n] = n, storagemap.Bytes(r.Extents)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	own := order[:storagemap.MaxRows-1]
	slices.Sort(own)
	var kept []storagemap.Row
	for _, n := range own {
		kept = append(kept, rows[n])
	}
	others := storagemap.Row{Name: fmt.Sprintf("%s others", text.Count(int64(len(rows)-len(own))))}
	for _, n := range order[len(own):] {
		others.Extents = append(others.Extents, rows[n].Extents...)
	}
	return append(kept, others), fmt.Sprintf(
		"A row for each of the %d largest of %s top-level fields, and one for all others.", len(own),
		text.Count(int64(len(rows))))
}

// hover describes a mark of the strip.
func hover(m storagemap.Mark) string {
	what := fmt.Sprintf("cluster %d, %s", m.Cluster, text.Plural(m.Pages, "page"))
	if m.Cluster == storagemap.Metadata {
		what = "metadata"
	}
	return fmt.Sprintf("%s, %s at %s", what, text.Size(m.Bytes), text.Count(m.Off))
}
