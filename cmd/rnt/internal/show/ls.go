package show

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/foreign"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/input"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

func lsCommand(t *cli.Tool) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls FILE...",
		Short: "List the RNTuples in files",
		Long: `ls lists all RNTuples in the files, including those in directories and older cycles,
with the number of entries and top-level fields, the size on disk and the compression.
Unreadable RNTuples are listed with the error, and the exit status is 3. TTrees are
listed, too, and Parquet, Arrow, CSV and JSON Lines files.`,
		Example:           "  rnt ls *.root",
		Args:              cli.FileArgs(cli.AnyNumber),
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return ls(cmd.Context(), t, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with sizes in bytes")
	return cmd
}

// listing is what ls prints about an RNTuple.
type listing struct {
	File          string         `json:"file"`
	Path          string         `json:"path"`
	Class         string         `json:"class"`
	Older         bool           `json:"older_cycle,omitempty"`
	Format        string         `json:"format,omitempty"` // the version that the writer supported
	Entries       int64          `json:"entries"`
	Fields        int            `json:"fields"`     // at the top level
	Disk          int64          `json:"disk_bytes"` // pages with checksums, and envelopes
	Compression   []string       `json:"compression"`
	Settings      []uint32       `json:"compression_settings"`
	AttributeSets []attributeSet `json:"attribute_sets,omitempty"`
	Error         string         `json:"error,omitempty"` // why it cannot be read; the numbers are then 0
}

type attributeSet struct {
	Name   string `json:"name"`
	Schema string `json:"schema_version"`
}

func setOf(a rntuple.AttributeSet) attributeSet {
	return attributeSet{a.Name, fmt.Sprintf("%d.%d", a.SchemaMajor, a.SchemaMinor)}
}

// ls lists the RNTuples in files. It goes on after a file that cannot be read.
func ls(ctx context.Context, t *cli.Tool, args []string, asJSON bool) error {
	list := []listing{}
	var errs []error
	for _, arg := range args {
		found, err := listFile(ctx, t, arg)
		list = append(list, found...)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, rntuple.ErrNotFound):
			if !asJSON {
				t.Report.Note("%w", err)
			}
		case err != nil:
			errs = append(errs, err)
		}
	}
	t.Report.Incomplete = slices.ContainsFunc(list, func(l listing) bool { return l.Error != "" }) || t.Report.Incomplete
	switch {
	case asJSON:
		errs = append(errs, text.JSON(t.Out, list))
	case len(list) > 0:
		errs = append(errs, printListing(t, list, len(args) > 1))
	}
	return errors.Join(errs...)
}

// listFile lists what is in a file. With an error it returns what was found before. The error
// wraps ErrNotFound if there is nothing.
func listFile(ctx context.Context, t *cli.Tool, arg string) (list []listing, err error) {
	path, err := t.Input.File(ctx, arg)
	if err != nil {
		return nil, err
	}
	if location.Parse(path).IsObjects() {
		return listObjects(ctx, t, arg, path)
	}
	kind, err := foreign.Detect(ctx, path, "", t.Input.Remote())
	if err != nil {
		return nil, err
	}
	if kind == foreign.RNTuple || kind == foreign.Tree {
		if list, err = listROOT(ctx, t, arg, path); err != nil && !errors.Is(err, rntuple.ErrNotFound) {
			return list, err
		}
	}
	others, otherErr := foreign.List(ctx, path, kind, t.Input.Remote())
	for _, o := range others {
		list = append(list, listing{File: cli.Shown(arg), Path: o.Name, Class: o.Class, Entries: o.Entries,
			Fields: o.Columns, Disk: o.Bytes,
			Compression: append([]string{}, o.Compression...), Settings: []uint32{}})
	}
	if len(others) > 0 {
		err = nil
	}
	switch {
	case otherErr != nil && kind != foreign.RNTuple:
		err = otherErr
	case otherErr != nil && err == nil:
		t.Report.Leave("cannot list trees: %w", otherErr)
	}
	return list, err
}

// listROOT lists the RNTuples in a ROOT file.
func listROOT(ctx context.Context, t *cli.Tool, arg, path string) (list []listing, err error) {
	f, size, err := input.Open(ctx, location.Parse(path), false, t.Input.Remote())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	infos, err := rntuple.List(f, size)
	for _, i := range infos {
		l := listing{File: cli.Shown(arg), Path: i.Path, Class: i.Class, Older: !i.Newest,
			Compression: []string{}, Settings: []uint32{}}
		r, err := rntuple.NewReader(f, size, i.Path, t.Input.Options(ctx))
		if err == nil {
			err = l.read(r)
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			l.Error = reason(err, i.Path)
		}
		list = append(list, l)
	}
	if err == nil && len(list) == 0 {
		_, err = rntuple.NewReader(f, size, "", nil) // which says what there is instead
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", cli.Shown(arg), err)
	}
	return list, err
}

// listObjects lists the RNTuple in the objects at a URL.
func listObjects(ctx context.Context, t *cli.Tool, arg, url string) ([]listing, error) {
	r, err := rntuple.Open(url, "", t.Input.Options(ctx))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	l := listing{File: cli.Shown(arg), Path: r.Name(), Class: anchor.ClassName,
		Compression: []string{}, Settings: []uint32{}}
	if err := l.read(r); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		l.Error = reason(err, l.Path)
	}
	return []listing{l}, nil
}

// reason returns the text of an error without the name of the RNTuple, which is
// printed beside it.
func reason(err error, path string) string {
	return strings.TrimPrefix(cli.WithAdvice(err.Error()), fmt.Sprintf("RNTuple %q: ", path))
}

func (l *listing) read(r *rntuple.Reader) error {
	i, err := r.Inspect(nil)
	if err != nil {
		return err
	}
	s := r.Schema()
	l.Format, l.Entries, l.Fields, l.Disk = r.FormatVersion(), r.NumEntries(), len(s.Fields)+len(s.Hidden), i.Disk()
	l.Compression, l.Settings = settings(i.Compression())
	for _, a := range r.AttributeSets() {
		l.AttributeSets = append(l.AttributeSets, setOf(a))
	}
	return nil
}

// settings returns compression settings in words and as numbers.
func settings(list []compress.Settings) (words []string, numbers []uint32) {
	words, numbers = []string{}, []uint32{}
	for _, s := range list {
		words, numbers = append(words, s.String()), append(numbers, uint32(s))
	}
	return words, numbers
}

// printListing prints a table, with a column for files if there are several.
func printListing(t *cli.Tool, list []listing, files bool) error {
	table := text.NewTable("FILE", "NAME", ">ENTRIES", ">FIELDS", ">SIZE", "COMPRESSION", "")
	for _, l := range list {
		file, name := schema.Printable(l.File), schema.Printable(l.Path)
		if l.Error != "" {
			table.Row(file, name, "-", "-", "-", "-", "cannot be read: "+schema.Printable(l.Error))
			continue
		}
		remark, disk := "", text.Size(l.Disk)
		switch {
		case l.Format == "":
			remark = l.Class
		case l.Older:
			remark = "older cycle"
		}
		if l.Disk == 0 {
			disk = "-"
		}
		table.Row(file, name, text.Count(l.Entries), text.Count(int64(l.Fields)), disk,
			strings.Join(l.Compression, ", "), remark)
		for _, a := range l.AttributeSets {
			table.Row(file, "  "+schema.Printable(a.Name), "", "", "", "", "attribute set, schema "+a.Schema)
		}
	}
	if !files {
		table.DropFirst()
	}
	return table.Print(t.Out)
}
