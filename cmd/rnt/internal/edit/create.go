package edit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/internal/jsonl"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/value"
)

// creation holds the flags of create.
type creation struct {
	schema, name string
	force        bool
	cli.WriteFlags
}

func createCommand(t *cli.Tool) *cobra.Command {
	var c creation
	cmd := &cobra.Command{
		Use:   "create --schema SCHEMA OUT",
		Short: "Create a ROOT file from JSON Lines",
		Long: `create reads entries from standard input, as JSON Lines in the format of cat, and writes
them as an RNTuple to the new ROOT file OUT. SCHEMA is a file in the format of "rnt
schema --json". A field needs only a name and a standard library type: {"name": "pt",
"type": "std::vector<float>"}.

OUT appears only when it is complete; after an error there is no new file.`,
		Example: "  rnt schema --json in.root > schema.json\n" +
			"  rnt cat in.root | rnt create --schema schema.json out.root",
		Args:              cli.FileArgs(1),
		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			return create(t, cmd, args[0], c)
		},
	}
	cmd.Flags().StringVar(&c.schema, "schema", "", "file with the schema, as JSON")
	cmd.Flags().StringVar(&c.name, "name", "", "name of the RNTuple (default from the schema)")
	cli.CompressionFlag(cmd, &c.Compression, "zstd:5", "")
	cmd.Flags().Int64Var(&c.ClusterSize, "cluster-size", 128<<20, "target size of clusters on disk, in bytes")
	cli.ForceFlag(cmd, &c.force)
	c.SyncFlag(cmd)
	cmd.MarkFlagFilename("schema", "json")
	return cmd
}

func create(t *cli.Tool, cmd *cobra.Command, out string, c creation) error {
	if c.schema == "" {
		return cli.UsageError("missing schema; use --schema")
	}
	if _, err := cli.ParseCompression(c.Compression); err != nil { // nor may it be empty
		return err
	}
	opts, err := c.Options(cmd.Context())
	if err != nil {
		return err
	}
	if err := t.Output.Begin(cmd.Context(), out, c.force, c.schema); err != nil {
		return err
	}
	doc, err := cli.ReadDocument(c.schema)
	if err != nil {
		return err
	}
	name := c.name
	if name == "" {
		name = doc.Name
	}
	t.Output.Options(&opts.File)
	w, err := rntuple.CreateRecords(out, name, doc, opts)
	if err != nil {
		return fmt.Errorf("%s: %w", remote.Redact(out), err)
	}
	return writeLines(cmd.Context(), t, out, w)
}

// writeLines writes the entries on standard input, JSON Lines, to the file out, and
// closes the writer.
func writeLines(ctx context.Context, t *cli.Tool, out string, w *rntuple.Writer[value.Record]) error {
	bar := t.Report.Bar("entries")
	defer bar.Done()
	entries := jsonl.NewReader(t.Input.Stdin(ctx), w.Schema().Fields)
	for {
		record, err := entries.Read()
		if errors.Is(err, io.EOF) {
			err := w.Close()
			if err == nil {
				t.Output.Done()
				t.Report.WarnNeeds(out, w.Needs())
			}
			return err
		}
		if err == nil {
			err = w.Write(&record)
		}
		if err != nil {
			w.Abort()
			return fmt.Errorf("%s: %w", cli.StdinName, err)
		}
		bar.Set(w.NumEntries(), -1)
	}
}
