package edit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/operation"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/schema"
)

// repacking holds the flags of repack.
type repacking struct {
	making
	encodings []string
	pageSize  int64
}

func repackCommand(t *cli.Tool) *cobra.Command {
	var r repacking
	cmd := &cobra.Command{
		Use:   "repack OUT IN [NTUPLE]",
		Short: "Change compression, encodings or clusters",
		Long: `repack writes the entries of the RNTuple in the file IN to the ROOT file OUT with
different compression or encodings, or with clusters and pages of another size. Data
that needs no change is copied.

--encoding is "default" (split bytes, which compress better), "unsplit" (the layout in
memory) or FIELD=TYPE: "pt=Real16", "pt=Real32Trunc:16" with 16 bits,
"eta=Real32Quant:12:-5:5" with 12 bits for a range. The first two never lose precision:
narrow columns stay narrow. The others may round.

OUT appears only when it is complete; after an error there is no new file.`,
		Example: "  rnt repack --compression lzma:7 small.root in.root\n" +
			"  rnt repack --cluster-size 100000000 --encoding pt=Real16 out.root in.root",
		Args:              cli.OutArgs(3),
		ValidArgsFunction: cli.CompleteArgs(2, 3),
		RunE:              func(cmd *cobra.Command, args []string) error { return repack(t, cmd, args, r) },
	}
	f := cmd.Flags()
	cli.CompressionFlag(cmd, &r.Compression, "", "unchanged")
	f.StringArrayVar(&r.encodings, "encoding", nil,
		`"default", "unsplit" or FIELD=TYPE; may be repeated (default unchanged)`)
	f.Int64Var(&r.ClusterSize, "cluster-size", 0,
		"write new clusters of about this many bytes on disk (default unchanged)")
	f.Int64Var(&r.pageSize, "page-size", 0,
		"write new pages of at most this many bytes in memory (default unchanged)")
	f.BoolVar(&r.asJSON, "json", false, "print the report as JSON, with sizes in bytes")
	cli.CompleteValues(cmd, "encoding", "default\tsplit bytes", "unsplit\tlayout in memory")
	cli.ForceFlag(cmd, &r.force)
	r.SyncFlag(cmd)
	return cmd
}

func repack(t *cli.Tool, cmd *cobra.Command, args []string, r repacking) error {
	o, err := r.options(cmd)
	if err != nil {
		return err
	}
	report, err := makeFrom(cmd.Context(), t, args[0], r.force, args[1:2], cli.NameOf(args[1:]), &o.Options,
		func(in []surgery.Input) (*surgery.Report, error) {
			return surgery.Repack(cmd.Context(), args[0], in[0], o)
		})
	if err != nil {
		return err
	}
	return printMerged(t, args[0], report, r.asJSON)
}

// options returns the options of package surgery.
func (r *repacking) options(cmd *cobra.Command) (o *surgery.RepackOptions, err error) {
	o = new(surgery.RepackOptions)
	if o.Options, err = operation.Options(&r.WriteFlags); err != nil {
		return nil, err
	}
	for _, text := range r.encodings {
		if err := encode(o, text); err != nil {
			return nil, cli.UsageError(fmt.Sprintf("--encoding %s: %v", text, err))
		}
	}
	o.Write.MaxUnzippedPageSize = r.pageSize
	for _, size := range []struct {
		flag  string
		bytes int64
	}{{"cluster-size", r.ClusterSize}, {"page-size", r.pageSize}} {
		if !cmd.Flags().Changed(size.flag) {
			continue
		}
		if size.bytes <= 0 {
			return nil, cli.UsageError(fmt.Sprintf("--%s must be positive", size.flag))
		}
		o.AtLeast = surgery.Rewrite
	}
	return o, nil
}

// encode sets the encodings that a value of --encoding stands for.
func encode(o *surgery.RepackOptions, text string) error {
	at := strings.LastIndexByte(text, '=') // names may contain it
	if at < 0 {
		o.EncodeAll = surgery.Encoding(text)
		if o.EncodeAll != surgery.DefaultEncoding && o.EncodeAll != surgery.UnsplitEncoding {
			return fmt.Errorf("want %q, %q or FIELD=TYPE", surgery.DefaultEncoding, surgery.UnsplitEncoding)
		}
		return nil
	}
	parts := strings.Split(text[at+1:], ":")
	column := schema.ColumnDocument{Type: parts[0]}
	switch len(parts) {
	case 1, 2, 4:
	default:
		return fmt.Errorf("want TYPE, TYPE:BITS or TYPE:BITS:MIN:MAX")
	}
	if len(parts) > 1 {
		bits, err := strconv.ParseUint(parts[1], 10, 16)
		if err != nil {
			return fmt.Errorf("%q is not a number of bits", parts[1])
		}
		column.Bits = uint16(bits)
	}
	if len(parts) == 4 {
		var err error
		column.Range = new([2]float64)
		for i, part := range parts[2:] {
			if column.Range[i], err = strconv.ParseFloat(part, 64); err != nil {
				return fmt.Errorf("%q is not a number", part)
			}
		}
	}
	o.Encode = append(o.Encode, surgery.FieldEncoding{Path: text[:at], Column: column})
	return nil
}
