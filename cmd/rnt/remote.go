package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"

	"github.com/spf13/pflag"

	"github.com/go-rntuple/go-rntuple/internal/disk/tempfile"
	"github.com/go-rntuple/go-rntuple/internal/parallel"
	"github.com/go-rntuple/go-rntuple/remote"
	_ "github.com/go-rntuple/go-rntuple/remote/https"  // http, https, dav and davs
	_ "github.com/go-rntuple/go-rntuple/remote/s3"     // s3, ntpl+s3+http and ntpl+s3+https
	_ "github.com/go-rntuple/go-rntuple/remote/xrootd" // root, roots, xroot and xroots
)

// remoteFlags are the flags of all commands that concern files whose names are URLs.
type remoteFlags struct {
	options   remote.Options
	stats     bool
	noSign    bool
	cache     string
	cacheSize byteCount
	zones     bool
}

func (r *remoteFlags) add(flags *pflag.FlagSet) {
	r.cacheSize = 10 << 30
	flags.BoolVar(&r.stats, "stats", false, "print at the end how many requests were made of files that are far away, and what they read")
	flags.BoolVar(&r.zones, "zones", false, "trust the zone maps of files that are far away")
	flags.BoolVar(&r.noSign, "no-sign", false, "send no credentials to where files are far away")
	flags.StringVar(&r.cache, "cache", "", "keep what is read of files that are far away in the folder `DIR`, which is empty or a cache already")
	flags.Var(&r.cacheSize, "cache-size", "keep at most `SIZE` there")
}

// begin begins counting, and opens the cache.
func (r *remoteFlags) begin(flags *pflag.FlagSet) (err error) {
	if r.cache == "" && (flags.Changed("cache") || flags.Changed("cache-size")) {
		return usageError("which folder shall be the cache? Use --cache DIR")
	}
	r.options.Stats, r.options.Pool, r.options.Anonymous = new(remote.Stats), remote.NewPool(64), r.noSign
	if r.cache != "" {
		r.options.Cache, err = remote.NewCache(r.cache, int64(r.cacheSize))
	}
	return err
}

// printStats prints what was read of files that are far away, if the user wants to know.
func (t *tool) printStats() {
	if !t.remote.stats || t.remote.options.Stats == nil {
		return
	}
	c := t.remote.options.Stats.Count()
	files := pluralOf(c.Files, "file", "files")
	if c.FileSize > 0 { // that of objects is not known
		files += " of " + size(c.FileSize)
	}
	fmt.Fprintf(t.stderr, "%s, %s", files, pluralOf(c.Requests, "request", "requests"))
	if c.Repeated > 0 {
		fmt.Fprintf(t.stderr, " (%d of them repeated)", c.Repeated)
	}
	fmt.Fprintf(t.stderr, ", %s read, %s wanted, %s from the cache, %.3g s waiting\n", size(c.Read), size(c.Wanted), size(c.Cached), c.Waiting.Seconds())
	if c.Written > 0 {
		fmt.Fprintf(t.stderr, "%s written\n", size(c.Written))
	}
	if c.FileSize > 0 && c.Read > 0 {
		fmt.Fprintf(t.stderr, "ROOT's terms: transactions %d, sparseness %.3g\n", c.Requests, float64(c.Read)/float64(c.FileSize))
	}
}

// copyOf returns the URL of a ROOT file, or the path of a temporary copy of a file of another kind,
// of which all must be read as a rule.
func (t *tool) copyOf(ctx context.Context, name string) (_ string, err error) {
	from, err := remote.Open(ctx, name, t.remote.options)
	if err != nil {
		return "", err
	}
	defer from.Close()
	head := make([]byte, 4)
	if n, err := from.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	} else if head = head[:n]; string(head) == "root" || string(head) == "rntu" || n == 0 {
		return name, nil
	}
	if from.Len() > maxSpooled {
		return "", fmt.Errorf("%s: more than %s; save it to a file first", from.Name(), size(maxSpooled))
	}
	suffix := ""
	if u, err := url.Parse(name); err == nil {
		suffix = path.Ext(u.Path)
	}
	to, err := tempfile.Create(func() (*os.File, error) { return os.CreateTemp("", "rnt-*"+suffix) })
	if err != nil {
		return "", err
	}
	t.named, t.temporaries = append(t.named, to.Name()), append(t.temporaries, to)
	t.isCopy(to.Name(), from.Name())
	const step = 8 << 20
	costs := from.Costs()
	err = parallel.Do(costs.Requests, int((from.Len()+step-1)/step), func(i int) error {
		at := int64(i) * step
		b := make([]byte, min(step, from.Len()-at))
		if err := from.ReadRanges(ctx, []remote.Range{{Offset: at, Data: b}}); err != nil {
			return err
		}
		_, err := to.WriteAt(b, at)
		return err
	})
	return to.Name(), err
}

// isCopy has messages call the file at a path by the name of what it is a copy of.
func (t *tool) isCopy(path, of string) {
	if t.copies == nil {
		t.copies = map[string]string{}
	}
	t.copies[path] = of
}
