package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

func (t *tool) lsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls FILE",
		Short: "List the RNTuples in a file",
		Long: "ls lists every RNTuple in a file, those in directories and older cycles included,\n" +
			"with the number of its entries and top-level fields, its size on disk and how it\n" +
			"is compressed. One that cannot be read is listed with the reason.",
		Args:              fileArgs(1),
		ValidArgsFunction: completeArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.ls(cmd.Context(), args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, sizes in bytes")
	return cmd
}

// listing is what ls says of an RNTuple.
type listing struct {
	Path          string         `json:"path"`
	Class         string         `json:"class"`
	Format        string         `json:"format,omitempty"` // version that the writer supported
	Entries       int64          `json:"entries"`
	Fields        int            `json:"fields"`     // at the top level
	Disk          int64          `json:"disk_bytes"` // pages with checksums, and envelopes
	Compression   []string       `json:"compression"`
	Settings      []uint32       `json:"compression_settings"`
	AttributeSets []attributeSet `json:"attribute_sets,omitempty"`
	Error         string         `json:"error,omitempty"` // if it cannot be read; the numbers are then 0
}

type attributeSet struct {
	Name   string `json:"name"`
	Schema string `json:"schema_version"`
}

func setOf(a rntuple.AttributeSet) attributeSet {
	return attributeSet{a.Name, fmt.Sprintf("%d.%d", a.SchemaMajor, a.SchemaMinor)}
}

func (t *tool) ls(ctx context.Context, path string, asJSON bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s: is a directory", path)
	}
	// With an error, infos has what was found before it.
	infos, listErr := rntuple.List(f, info.Size())
	if listErr != nil {
		listErr = fmt.Errorf("%s: %w", path, listErr)
	}
	list := []listing{}
	for _, i := range infos {
		l := listing{Path: i.Path, Class: i.Class, Compression: []string{}, Settings: []uint32{}}
		if err := l.read(ctx, f, info.Size()); err != nil {
			if ctx.Err() != nil {
				return err
			}
			l.Error = reason(err, i.Path)
		}
		list = append(list, l)
	}
	switch {
	case asJSON:
		err = printJSON(t.out, list)
	case len(list) > 0:
		err = t.printListing(list)
	case listErr == nil:
		fmt.Fprintf(t.stderr, "rnt: no RNTuples in %s\n", path)
	}
	return errors.Join(listErr, err)
}

// reason returns the text of an error without the name of the RNTuple, which is
// next to it.
func reason(err error, path string) string {
	return strings.TrimPrefix(err.Error(), fmt.Sprintf("RNTuple %q: ", path))
}

func (l *listing) read(ctx context.Context, f *os.File, size int64) error {
	r, err := rntuple.NewReader(f, size, l.Path, rntuple.Context(ctx))
	if err != nil {
		return err
	}
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

func (t *tool) printListing(list []listing) error {
	table := newTable("NAME", ">ENTRIES", ">FIELDS", ">SIZE", "COMPRESSION", "")
	for _, l := range list {
		name := schema.Printable(l.Path)
		if l.Error != "" {
			table.row(name, "-", "-", "-", "-", "cannot be read: "+schema.Printable(l.Error))
			continue
		}
		table.row(name, count(l.Entries), count(int64(l.Fields)), size(l.Disk), strings.Join(l.Compression, ", "))
		for _, a := range l.AttributeSets {
			table.row("  "+schema.Printable(a.Name), "", "", "", "", "attribute set, schema "+a.Schema)
		}
	}
	return table.print(t.out)
}
