package surgery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// PartSize is the size of the parts written by Split. Exactly one of its fields must be set.
type PartSize struct {
	Entries  int64 // number of entries of all but the last part
	Clusters int64 // number of clusters of all but the last part
	Bytes    int64 // maximum bytes of pages; a part has at least one cluster
}

// A Part is a file written by Split.
type Part struct {
	Path    string
	Entries rntuple.EntryRange // of the input
	Report  *Report
}

// Split splits an RNTuple into several files. Their paths are formatted from a pattern with one
// verb of package fmt for their number, from 0: "out-%03d.root". Pages of whole clusters are
// copied; clusters that span two parts are cut as by Skim. An RNTuple without entries results in
// one part.
//
// Existing files are not replaced. After an error, all parts are removed.
//
// Attribute sets are written to all parts, cut as by Concat.
func Split(ctx context.Context, pattern string, in Input, size PartSize, o *SplitOptions) ([]Part, error) {
	o = cmp.Or(o, new(SplitOptions))
	c := o.config()
	if c.invalid != nil {
		return nil, c.invalid
	}
	c.Name, c.Keep, c.Drop = o.Name, o.Keep, o.Drop
	clusters, err := clusterSizes(ctx, in, c.read)
	if err != nil {
		return nil, err
	}
	ranges, err := size.ranges(clusters)
	if err != nil {
		return nil, err
	}
	parts := make([]Part, len(ranges))
	for n, r := range ranges {
		if parts[n], err = newPart(pattern, n, r); err != nil {
			return nil, err
		}
	}
	for n := range parts {
		if err := parts[n].make(ctx, in, ranges[len(ranges)-1].End, *c.asStored()); err != nil {
			err = fmt.Errorf("%s: %w", parts[n].Path, err)
			for _, done := range parts[:n] {
				err = errors.Join(err, os.Remove(done.Path))
			}
			return nil, err
		}
	}
	return parts, nil
}

// verb matches the verb of a pattern.
var verb = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%0?[1-9]?d`) })

// newPart returns the n-th part, which must not exist.
func newPart(pattern string, n int, r rntuple.EntryRange) (Part, error) {
	at := verb().FindStringIndex(pattern)
	if at == nil {
		return Part{}, fmt.Errorf("%q does not say where the number of a part goes: %%d", pattern)
	}
	if remote.IsURL(pattern) {
		return Part{}, fmt.Errorf("%s: %w: parts are written to files on disk only",
			remote.Redact(pattern), errors.ErrUnsupported)
	}
	path := pattern[:at[0]] + fmt.Sprintf(pattern[at[0]:at[1]], n) + pattern[at[1]:]
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return Part{}, &os.PathError{Op: "create", Path: path, Err: os.ErrExist}
	}
	return Part{Path: path, Entries: r}, nil
}

// make writes one part of an input with the given number of entries.
func (p *Part) make(ctx context.Context, in Input, entries int64, c config) (err error) {
	if tell := c.Progress; tell != nil && entries > 0 {
		c.Progress = func(done, total int64) {
			at := float64(p.Entries.First) + float64(p.Entries.Len())*(float64(done)/float64(total))
			tell(int64(at/float64(entries)*float64(total)), total)
		}
	}
	p.Report, err = c.create(ctx, p.Path, &job{
		inputs: []Input{in},
		choose: func(context.Context, int, *ntuple.Reader) (selection, error) {
			return selection{within: p.Entries}, nil
		},
	})
	return err
}

// ranges returns which entries the parts have.
func (size PartSize) ranges(clusters []clusterSize) ([]rntuple.EntryRange, error) {
	var all []rntuple.EntryRange
	first, entries := int64(0), int64(0)
	if len(clusters) > 0 {
		entries = clusters[len(clusters)-1].End
	}
	end := func(entry int64) {
		all, first = append(all, rntuple.EntryRange{First: first, End: entry}), entry
	}
	switch {
	case size == PartSize{Entries: size.Entries} && size.Entries > 0:
		for entries-first > size.Entries {
			end(first + size.Entries)
		}
	case size == PartSize{Clusters: size.Clusters} && size.Clusters > 0:
		for n := size.Clusters; n < int64(len(clusters)); n += size.Clusters {
			end(clusters[n].First)
		}
	case size == PartSize{Bytes: size.Bytes} && size.Bytes > 0:
		left := size.Bytes
		for _, c := range clusters {
			if c.bytes > left && c.First > first {
				end(c.First)
				left = size.Bytes
			}
			left -= c.bytes
		}
	default:
		return nil, errors.New("the size of parts is one positive number of entries, clusters or bytes")
	}
	end(entries)
	return all, nil
}
