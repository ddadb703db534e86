package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/disk/regular"
	"github.com/go-rntuple/go-rntuple/internal/jsonl"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// creation holds the flags of create.
type creation struct {
	schema, name, compression string
	clusterSize               int64
	force                     bool
	durability
}

func (t *tool) createCommand() *cobra.Command {
	var c creation
	cmd := &cobra.Command{
		Use:   "create --schema SCHEMA OUT",
		Short: "Make a ROOT file from JSON Lines",
		Long: `create reads entries from standard input, as the JSON Lines that cat prints, and
writes them as an RNTuple to the new ROOT file OUT. SCHEMA is a file as printed by
"rnt schema --json". A field in it needs only a name and a type of the standard
library: {"name": "pt", "type": "std::vector<float>"}.

OUT appears only once it is complete: after an error there is no new file.`,
		Example: "  rnt schema --json in.root > schema.json\n" +
			"  rnt cat in.root | rnt create --schema schema.json out.root",
		Args:              fileArgs(1),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.create(cmd, args[0], c)
		},
	}
	cmd.Flags().StringVar(&c.schema, "schema", "", "the schema, as JSON")
	cmd.Flags().StringVar(&c.name, "name", "", "name of the RNTuple (default that of the schema)")
	compressionFlag(cmd, &c.compression, "zstd:5", "")
	cmd.Flags().Int64Var(&c.clusterSize, "cluster-size", 128<<20, "wanted size of clusters on disk, in bytes")
	forceFlag(cmd, &c.force)
	c.syncFlag(cmd)
	cmd.MarkFlagFilename("schema", "json")
	return cmd
}

func (t *tool) create(cmd *cobra.Command, out string, c creation) error {
	if c.schema == "" {
		return usageError("which schema? Use --schema")
	}
	settings, err := compress.ParseSettings(c.compression)
	if err != nil {
		return usageError("--compression: " + err.Error())
	}
	if c.clusterSize <= 0 {
		return usageError("--cluster-size must be positive")
	}
	if err := t.beginOutput(cmd.Context(), out, c.force, c.schema); err != nil {
		return err
	}
	doc, err := readDocument(c.schema)
	if err != nil {
		return err
	}
	name := c.name
	if name == "" {
		name = doc.Name
	}
	opts := []rntuple.WriteOption{rntuple.WriteContext(cmd.Context()), rntuple.Compression(settings), rntuple.ClusterSize(c.clusterSize)}
	w, err := rntuple.CreateRecords(out, name, doc, slices.Concat(opts, t.creating(), c.durability.options())...)
	if err != nil {
		return fmt.Errorf("%s: %w", remote.Redact(out), err)
	}
	return t.writeLines(cmd.Context(), out, w)
}

// writeLines writes the entries on standard input, JSON Lines, to the file out, and
// closes the writer.
func (t *tool) writeLines(ctx context.Context, out string, w *rntuple.Writer[value.Record]) error {
	bar := t.bar("entries")
	defer bar.done()
	entries := jsonl.NewReader(t.interruptible(ctx), w.Schema().Fields)
	for {
		record, err := entries.Read()
		if errors.Is(err, io.EOF) {
			err := w.Close()
			if err == nil {
				t.output.done()
				t.warnNeeds(out, w.Needs())
			}
			return err
		}
		if err == nil {
			err = w.Write(&record)
		}
		if err != nil {
			w.Abort()
			return fmt.Errorf("%s: %w", stdinName, err)
		}
		bar.setOf(w.NumEntries(), -1)
	}
}

func readDocument(path string) (*schema.Document, error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := schema.ParseDocument(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return doc, nil
}
