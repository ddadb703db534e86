package show

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/source"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/internal/show/dump"
)

// dumping holds the flags of dump.
type dumping struct {
	dump.Options
	at, page string
	lists    []int
	asJSON   bool
}

func dumpCommand(t *cli.Tool) *cobra.Command {
	var d dumping
	cmd := &cobra.Command{
		Use:   "dump FILE [NTUPLE]",
		Short: "Print records byte by byte, with their meaning",
		Long: `dump prints the records of an RNTuple byte by byte: anchor, header, footer and page
lists, each with its key, or the records selected by flags. Every line is a member: its
offset in the file and in the record, its bytes, its name in the specification, its
value and its meaning. Compressed records are shown uncompressed, without file offsets.

Bytes not described by the specification are shown as unknown. A damaged record is shown
up to the damage, followed by the error, and the exit status is 1. If directories are
damaged, --at finds records without them.`,
		Example: "  rnt dump data.root --header\n" +
			"  rnt dump data.root --container\n" +
			"  rnt dump data.root --at 0x1f2e\n" +
			"  rnt dump data.root Events --page 12/0/3",
		Args:              cli.FileArgs(2),
		ValidArgsFunction: cli.CompleteArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return dumpRecords(t, cmd, args, d)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&d.Container, "container", false, "the ROOT file: header, directories, free list, streamer infos")
	f.BoolVar(&d.Anchor, "anchor", false, "the anchor")
	f.BoolVar(&d.Header, "header", false, "the header")
	f.BoolVar(&d.Footer, "footer", false, "the footer")
	f.BoolVar(&d.PageLists, "page-lists", false, "all page lists")
	f.IntSliceVar(&d.lists, "page-list", nil, "the page lists of the cluster groups `N,...`, counted from 0")
	f.StringVar(&d.at, "at", "", "the record that contains the byte at `OFFSET` in the file")
	f.StringVar(&d.page, "page", "", "a page and its elements: `COLUMN/CLUSTER/PAGE`, counted from 0")
	f.BoolVar(&d.asJSON, "json", false, "print JSON, one record per line, with bytes in hexadecimal")
	return cmd
}

func dumpRecords(t *cli.Tool, cmd *cobra.Command, args []string, d dumping) error {
	var err error
	if d.NTuple, err = cli.CheckedName(args); err != nil {
		return err
	}
	d.PageList = d.lists
	if d.at != "" {
		n, err := strconv.ParseInt(d.at, 0, 64)
		if err != nil {
			return cli.UsageError("--at: want an offset, such as 1234 or 0x4d2")
		}
		d.At = &n
	}
	if d.page != "" {
		d.Page = new(dump.Page)
		numbers := []*int{&d.Page.Column, &d.Page.Cluster, &d.Page.Page}
		parts := strings.Split(d.page, "/")
		for i, part := range parts {
			n, err := strconv.Atoi(part)
			if err != nil || n < 0 || len(parts) != len(numbers) {
				return cli.UsageError("--page: want COLUMN/CLUSTER/PAGE, such as 12/0/3")
			}
			*numbers[i] = n
		}
	}
	d.MaxMemory = t.Input.Limits().EnvelopeBytes
	f, size, err := source.OpenFile(cmd.Context(), t, args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	damaged := 0
	emit := func(r *dump.Record) error {
		if r.Error != "" {
			r.Error = cli.WithAdvice(r.Error)
			damaged++
		}
		if d.asJSON {
			e := json.NewEncoder(t.Out)
			e.SetEscapeHTML(false)
			return e.Encode(r)
		}
		return r.Print(t.Out)
	}
	err = dump.File(cmd.Context(), f, size, d.Options, emit)
	if err == nil && damaged > 0 {
		err = fmt.Errorf("damaged: %s", text.Plural(damaged, "record"))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", cli.Shown(args[0]), err)
	}
	return nil
}
