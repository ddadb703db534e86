package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/schema"
)

// repacking holds the flags of repack.
type repacking struct {
	making
	encodings []string
	pageSize  int64
}

func (t *tool) repackCommand() *cobra.Command {
	var r repacking
	cmd := &cobra.Command{
		Use:   "repack OUT IN [NTUPLE]",
		Short: "Change compression, encodings or clusters",
		Long: `repack makes a ROOT file OUT with the entries of the RNTuple in the file IN, with
another compression or encoding, or with clusters and pages of another size. What
needs no change is copied.

An --encoding is "default" (bytes are split, so that they compress better),
"unsplit" (as in memory) or that of one field: "pt=Real16", "pt=Real32Trunc:16" with
16 bits, "eta=Real32Quant:12:-5:5" with 12 bits for a range. The first two never
lose anything: columns that are already narrow stay narrow. The others may round.

OUT appears only once it is complete: after an error there is no new file.`,
		Example: "  rnt repack --compression lzma:7 small.root in.root\n" +
			"  rnt repack --cluster-size 100000000 --encoding pt=Real16 out.root in.root",
		Args:              outArgs(3, "repacked"),
		ValidArgsFunction: completeArgs(2, 3),
		RunE:              func(cmd *cobra.Command, args []string) error { return t.repack(cmd, args, r) },
	}
	f := cmd.Flags()
	compressionFlag(cmd, &r.compression, "", "as it is")
	f.StringArrayVar(&r.encodings, "encoding", nil, `"default", "unsplit" or FIELD=TYPE, repeated for more fields (default as it is)`)
	f.Int64Var(&r.clusterSize, "cluster-size", 0, "make new clusters of that many bytes on disk (default as they are)")
	f.Int64Var(&r.pageSize, "page-size", 0, "make new pages of at most that many bytes in memory (default as they are)")
	f.BoolVar(&r.asJSON, "json", false, "print the report as JSON, sizes in bytes")
	completeValues(cmd, "encoding", "default\tbytes are split", "unsplit\tas in memory")
	forceFlag(cmd, &r.force)
	r.syncFlag(cmd)
	return cmd
}

func (t *tool) repack(cmd *cobra.Command, args []string, r repacking) error {
	opts, err := r.options(cmd)
	if err != nil {
		return err
	}
	inputs, err := t.inputs(cmd, args[1:2], nameOf(args[1:]))
	if err != nil {
		return err
	}
	report, err := t.operate(cmd.Context(), args[0], r.force, inputs, func(more ...surgery.Option) (*surgery.Report, error) {
		return surgery.Repack(cmd.Context(), args[0], inputs[0], append(opts, more...)...)
	})
	if err != nil {
		return err
	}
	return t.printMerged(args[0], report, r.asJSON)
}

// options returns the options of package surgery.
func (r *repacking) options(cmd *cobra.Command) ([]surgery.Option, error) {
	opts, err := compressionOption(r.compression)
	if err != nil {
		return nil, err
	}
	opts = append(opts, surgery.Write(r.durability.options()...))
	for _, text := range r.encodings {
		opt, err := parseEncoding(text)
		if err != nil {
			return nil, usageError(fmt.Sprintf("--encoding %s: %v", text, err))
		}
		opts = append(opts, opt)
	}
	for _, size := range []struct {
		flag   string
		bytes  int64
		option func(int64) rntuple.WriteOption
	}{{"cluster-size", r.clusterSize, rntuple.ClusterSize}, {"page-size", r.pageSize, rntuple.MaxUnzippedPageSize}} {
		if !cmd.Flags().Changed(size.flag) {
			continue
		}
		if size.bytes <= 0 {
			return nil, usageError(fmt.Sprintf("--%s must be positive", size.flag))
		}
		opts = append(opts, surgery.AtLeast(surgery.Rewrite), surgery.Write(size.option(size.bytes)))
	}
	return opts, nil
}

// parseEncoding parses a value of --encoding.
func parseEncoding(text string) (surgery.Option, error) {
	at := strings.LastIndexByte(text, '=') // names may contain it
	if at < 0 {
		e := surgery.Encoding(text)
		if e != surgery.DefaultEncoding && e != surgery.UnsplitEncoding {
			return nil, fmt.Errorf("want %q, %q or FIELD=TYPE", surgery.DefaultEncoding, surgery.UnsplitEncoding)
		}
		return surgery.EncodeAll(e), nil
	}
	parts := strings.Split(text[at+1:], ":")
	column := schema.ColumnDocument{Type: parts[0]}
	switch len(parts) {
	case 1:
		return surgery.Encode(text[:at], column), nil
	case 2, 4:
	default:
		return nil, fmt.Errorf("want TYPE, TYPE:BITS or TYPE:BITS:MIN:MAX")
	}
	bits, err := strconv.ParseUint(parts[1], 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%q is not a number of bits", parts[1])
	}
	column.Bits = uint16(bits)
	if len(parts) == 4 {
		column.Range = new([2]float64)
		for i, part := range parts[2:] {
			if column.Range[i], err = strconv.ParseFloat(part, 64); err != nil {
				return nil, fmt.Errorf("%q is not a number", part)
			}
		}
	}
	return surgery.Encode(text[:at], column), nil
}
