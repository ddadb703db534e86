package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/internal/jsonl"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
	"github.com/go-rntuple/go-rntuple/value"
)

// creation is what to make.
type creation struct {
	schema, name, compression string
	clusterSize               int64
}

func (t *tool) createCommand() *cobra.Command {
	var c creation
	cmd := &cobra.Command{
		Use:   "create --schema SCHEMA OUT",
		Short: "Make a ROOT file of entries in JSON Lines",
		Long: `create reads entries from standard input, JSON Lines as cat prints them, and
writes them as an RNTuple to the new ROOT file OUT. SCHEMA is a file as
"rnt schema --json" prints it. A field needs no more than a name and a type of the
standard library there: {"name": "pt", "type": "std::vector<float>"}.

OUT comes into being as a whole: if anything is wrong, a file that was there stays.`,
		Example: "  rnt schema --json in.root > schema.json\n" +
			"  rnt cat in.root | rnt create --schema schema.json out.root",
		Args:              fileArgs(1),
		ValidArgsFunction: completeArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.create(cmd, args[0], c)
		},
	}
	cmd.Flags().StringVar(&c.schema, "schema", "", "the schema, as JSON")
	cmd.Flags().StringVar(&c.name, "name", "", "name of the RNTuple (default that of the schema)")
	cmd.Flags().StringVar(&c.compression, "compression", "zstd:5", `"zstd:5", "lz4:4", "zlib:1", "lzma:7" or "none"`)
	cmd.Flags().Int64Var(&c.clusterSize, "cluster-size", 128<<20, "wanted size of clusters on disk, in bytes")
	cmd.MarkFlagRequired("schema")
	return cmd
}

func (t *tool) create(cmd *cobra.Command, out string, c creation) error {
	settings, err := compress.ParseSettings(c.compression)
	if err != nil {
		return usageError("--compression: " + err.Error())
	}
	doc, err := readDocument(c.schema)
	if err != nil {
		return fmt.Errorf("%s: %w", c.schema, err)
	}
	name := c.name
	if name == "" {
		name = doc.Name
	}
	w, err := rntuple.CreateRecords(out, name, doc,
		rntuple.WriteContext(cmd.Context()), rntuple.Compression(settings), rntuple.ClusterSize(c.clusterSize))
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(out), err)
	}
	return t.writeLines(cmd.InOrStdin(), w)
}

// writeLines writes entries in JSON Lines, and closes the writer.
func (t *tool) writeLines(in io.Reader, w *rntuple.Writer[value.Record]) error {
	bar := t.progress("entries", -1)
	defer bar.done()
	entries := jsonl.NewReader(in, w.Schema().Fields)
	for {
		record, err := entries.Read()
		if errors.Is(err, io.EOF) {
			return w.Close()
		}
		if err == nil {
			err = w.Write(&record)
		}
		if err != nil {
			w.Abort()
			return err
		}
		bar.set(w.NumEntries())
	}
}

func readDocument(path string) (*schema.Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	return schema.ParseDocument(f)
}
