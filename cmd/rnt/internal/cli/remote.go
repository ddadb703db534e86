package cli

import (
	"fmt"
	"io"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/spf13/pflag"

	_ "github.com/go-rntuple/go-rntuple/remote/https"

	// http, https, dav and davs
	_ "github.com/go-rntuple/go-rntuple/remote/s3"

	// s3, ntpl+s3+http and ntpl+s3+https
	_ "github.com/go-rntuple/go-rntuple/remote/xrootd"
)

// root, roots, xroot and xroots

// remoteFlags are the flags of all commands that concern files whose names are URLs.
type remoteFlags struct {
	options   remote.Options
	stats     bool
	noSign    bool
	cache     string
	cacheSize Bytes
	zones     bool
}

func (r *remoteFlags) add(flags *pflag.FlagSet) {
	r.cacheSize = 10 << 30
	flags.BoolVar(&r.stats, "stats", false,
		"print statistics of requests to remote files at the end")
	flags.BoolVar(&r.zones, "zones", false, "trust the zone maps of remote files")
	flags.BoolVar(&r.noSign, "no-sign", false, "send no credentials to remote servers")
	flags.StringVar(&r.cache, "cache", "",
		"cache data read from remote files in the folder `DIR`, which must be empty or an existing cache")
	flags.Var(&r.cacheSize, "cache-size", "maximum `SIZE` of the cache")
}

// begin begins counting, and opens the cache.
func (r *remoteFlags) begin(flags *pflag.FlagSet) (err error) {
	if r.cache == "" && (flags.Changed("cache") || flags.Changed("cache-size")) {
		return UsageError("missing cache folder; use --cache DIR")
	}
	r.options.Stats, r.options.Pool, r.options.Anonymous = new(remote.Stats), remote.NewPool(64), r.noSign
	if r.cache != "" {
		r.options.Cache, err = remote.NewCache(r.cache, int64(r.cacheSize))
	}
	return err
}

// printStats prints what was read of files that are far away, if the user wants to know.
func (r *remoteFlags) printStats(w io.Writer) {
	if !r.stats || r.options.Stats == nil {
		return
	}
	c := r.options.Stats.Count()
	files := text.PluralOf(c.Files, "file", "files")
	if c.FileSize > 0 { // that of objects is not known
		files += " of " + text.Size(c.FileSize)
	}
	fmt.Fprintf(w, "%s, %s", files, text.PluralOf(c.Requests, "request", "requests"))
	if c.Repeated > 0 {
		fmt.Fprintf(w, " (%d retries)", c.Repeated)
	}
	fmt.Fprintf(w, ", %s read, %s requested, %s from cache, %.3g s waiting\n", text.Size(c.Read), text.Size(c.Wanted),
		text.Size(c.Cached), c.Waiting.Seconds())
	if c.Written > 0 {
		fmt.Fprintf(w, "%s written\n", text.Size(c.Written))
	}
	if c.FileSize > 0 && c.Read > 0 {
		fmt.Fprintf(w, "ROOT's terms: transactions %d, sparseness %.3g\n", c.Requests, float64(c.Read)/float64(c.FileSize))
	}
}
