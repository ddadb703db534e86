package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// WriteFlags holds the flags of commands that write RNTuples.
type WriteFlags struct {
	Compression string // empty: a default
	ClusterSize int64
	Durability
}

// Options returns the options that the flags stand for.
func (w *WriteFlags) Options(ctx context.Context) (*rntuple.WriteOptions, error) {
	if w.ClusterSize <= 0 {
		return nil, UsageError("--cluster-size must be positive")
	}
	opts := &rntuple.WriteOptions{ClusterSize: w.ClusterSize, File: w.Durability.Options()}
	opts.File.Context = ctx
	if w.Compression != "" {
		settings, err := ParseCompression(w.Compression)
		if err != nil {
			return nil, err
		}
		opts.Compression = settings
	}
	return opts, nil
}

// Durability holds the flags that say how what is written gets to the disk.
type Durability struct {
	NoSync bool
	wait   time.Duration
}

// SyncFlag adds the flag --no-sync.
func (d *Durability) SyncFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&d.NoSync, "no-sync", false,
		"do not wait for the disk: faster, but a power failure may lose or damage the file")
}

// WaitFlag adds the flag of commands that update files.
func (d *Durability) WaitFlag(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&d.wait, "wait", 0,
		"wait up to this long for another process that is updating the file, such as 1m30s (default no wait)")
}

// Options returns the options that the flags stand for.
func (d *Durability) Options() rntuple.FileOptions {
	return rntuple.FileOptions{NoSync: d.NoSync, LockWait: d.wait}
}

// ForceFlag adds the flag --force.
func ForceFlag(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false, "replace OUT if it exists")
}

// CompressionFlag adds the flag --compression with a default value or, if that is
// empty, a description of the default.
func CompressionFlag(cmd *cobra.Command, settings *string, value, standard string) {
	usage := `"zstd:5", "lz4:4", "zlib:1", "lzma:7" or "none"`
	if value == "" {
		usage += " (default " + standard + ")"
	}
	cmd.Flags().StringVar(settings, "compression", value, usage)
	CompleteValues(cmd, "compression", "zstd:5\tsmall and fast, ROOT's default", "lz4:4\tfaster to read, larger",
		"zlib:1\tcompatible with old readers",
		"lzma:7\tsmallest, slow", "none\tuncompressed")
}

// ParseCompression parses the value of the flag --compression.
func ParseCompression(flag string) (compress.Settings, error) {
	c, err := compress.ParseSettings(flag)
	if err != nil {
		return 0, UsageError("--compression: " + err.Error())
	}
	return c, nil
}
