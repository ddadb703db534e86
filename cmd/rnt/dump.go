package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/internal/show/dump"
)

// dumping holds the flags of dump.
type dumping struct {
	dump.Options
	at, page string
	lists    []int
	asJSON   bool
}

func (t *tool) dumpCommand() *cobra.Command {
	var d dumping
	cmd := &cobra.Command{
		Use:   "dump FILE [NTUPLE]",
		Short: "Print records byte by byte, with the meaning of every byte",
		Long: `dump prints the records of an RNTuple byte by byte: anchor, header, footer and page
lists, each with its key, or those that flags choose. Every line is a member: its
offset in the file and in the record, its bytes, its name in the specification, its
value and what that means. Compressed records are shown uncompressed, without
offsets in the file.

Bytes that the specification does not describe are shown as unknown. A damaged
record is shown up to the damage, followed by what is wrong, and the exit status is
1. Where directories are damaged, --at finds records without them.`,
		Example: "  rnt dump data.root --header\n" +
			"  rnt dump data.root --container\n" +
			"  rnt dump data.root --at 0x1f2e\n" +
			"  rnt dump data.root Events --page 12/0/3",
		Args:              fileArgs(2),
		ValidArgsFunction: completeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.dump(cmd, args, d)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&d.Container, "container", false, "the ROOT file: header, directories, free list, streamer infos")
	f.BoolVar(&d.Anchor, "anchor", false, "the anchor")
	f.BoolVar(&d.Header, "header", false, "the header")
	f.BoolVar(&d.Footer, "footer", false, "the footer")
	f.BoolVar(&d.PageLists, "page-lists", false, "all page lists")
	f.IntSliceVar(&d.lists, "page-list", nil, "the page lists of the cluster groups `N,...`, from 0")
	f.StringVar(&d.at, "at", "", "the record that holds the byte at `OFFSET` of the file")
	f.StringVar(&d.page, "page", "", "a page and its elements: `COLUMN/CLUSTER/PAGE`, from 0")
	f.BoolVar(&d.asJSON, "json", false, "print JSON, a record a line, bytes in hexadecimal digits")
	return cmd
}

func (t *tool) dump(cmd *cobra.Command, args []string, d dumping) error {
	if len(args) > 1 {
		if d.NTuple = args[1]; d.NTuple == "" {
			return usageError("NTUPLE is empty")
		}
	}
	d.PageList = d.lists
	if d.at != "" {
		n, err := strconv.ParseInt(d.at, 0, 64)
		if err != nil {
			return usageError("--at: want an offset, such as 1234 or 0x4d2")
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
				return usageError("--page: want COLUMN/CLUSTER/PAGE, such as 12/0/3")
			}
			*numbers[i] = n
		}
	}
	d.MaxMemory = int64(t.maxMemory)
	f, size, err := t.openFile(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	damaged := 0
	emit := func(r *dump.Record) error {
		if r.Error != "" {
			r.Error = withAdvice(r.Error)
			damaged++
		}
		if d.asJSON {
			e := json.NewEncoder(t.out)
			e.SetEscapeHTML(false)
			return e.Encode(r)
		}
		return r.Print(t.out)
	}
	err = dump.File(cmd.Context(), f, size, d.Options, emit)
	if err == nil && damaged > 0 {
		err = fmt.Errorf("damaged: %s", plural(damaged, "record"))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", shown(args[0]), err)
	}
	return nil
}
