package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// writeFlags holds the flags of commands that write RNTuples.
type writeFlags struct {
	compression string // empty: a default
	clusterSize int64
	durability
}

// options returns the options that the flags stand for.
func (w *writeFlags) options(ctx context.Context) ([]rntuple.WriteOption, error) {
	if w.clusterSize <= 0 {
		return nil, usageError("--cluster-size must be positive")
	}
	opts := append(w.durability.options(), rntuple.WriteContext(ctx), rntuple.ClusterSize(w.clusterSize))
	if w.compression != "" {
		settings, err := parseCompression(w.compression)
		if err != nil {
			return nil, err
		}
		opts = append(opts, rntuple.Compression(settings))
	}
	return opts, nil
}

// durability holds the flags that say how what is written gets to the disk.
type durability struct {
	noSync bool
	wait   time.Duration
}

// syncFlag adds the flag --no-sync.
func (d *durability) syncFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&d.noSync, "no-sync", false, "do not wait for the disk: faster, but a power failure may lose or damage the file")
}

// waitFlag adds the flag of commands that update files.
func (d *durability) waitFlag(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&d.wait, "wait", 0, "for how long to wait for another process that updates the file, as 1m30s (default not at all)")
}

// options returns the options that the flags stand for.
func (d *durability) options() []rntuple.WriteOption {
	return []rntuple.WriteOption{rntuple.Sync(!d.noSync), rntuple.LockWait(d.wait)}
}

// forceFlag adds the flag --force.
func forceFlag(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false, "replace OUT if it exists")
}

// compressionFlag adds the flag --compression with a default value or, if that is
// empty, a description of the default.
func compressionFlag(cmd *cobra.Command, settings *string, value, standard string) {
	usage := `"zstd:5", "lz4:4", "zlib:1", "lzma:7" or "none"`
	if value == "" {
		usage += " (default " + standard + ")"
	}
	cmd.Flags().StringVar(settings, "compression", value, usage)
	completeValues(cmd, "compression", "zstd:5\tsmall and fast, ROOT's default", "lz4:4\tfaster to read, larger", "zlib:1\tfor old readers",
		"lzma:7\tsmallest, slow", "none\tuncompressed")
}

// parseCompression parses the value of the flag --compression.
func parseCompression(flag string) (compress.Settings, error) {
	c, err := compress.ParseSettings(flag)
	if err != nil {
		return 0, usageError("--compression: " + err.Error())
	}
	return c, nil
}
