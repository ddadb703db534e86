package surgery

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"regexp"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// PartSize says how large the parts are that Split makes. One of its members is
// set.
type PartSize struct {
	Entries  int64 // exactly, in all but the last part
	Clusters int64 // exactly, in all but the last part
	Bytes    int64 // of pages, at most, but at least a cluster
}

// A Part is a file that Split has made.
type Part struct {
	Path    string
	Entries rntuple.EntryRange // of the input
	Report  *Report
}

// Split cuts an RNTuple into several files. Their paths are made from a pattern
// with one verb for their number, from 0 on, as fmt has it: "out-%03d.root". Where
// the borders are those of clusters, pages are copied; clusters in the middle of
// which a part ends are rewritten. An RNTuple without entries gives one part.
//
// No file that exists is replaced. After an error, none of the parts is left.
//
// Attribute sets are in all parts, cut as Concat does it.
func Split(ctx context.Context, pattern string, in Input, size PartSize, opts ...Option) ([]Part, error) {
	ranges, err := size.ranges(ctx, in, newSettings(opts))
	if err != nil {
		return nil, err
	}
	parts := make([]Part, len(ranges))
	for n, r := range ranges {
		if parts[n], err = partOf(pattern, n, r); err != nil {
			return nil, err
		}
	}
	for n := range parts {
		p := &parts[n]
		p.Report, err = p.make(ctx, in, ranges[len(ranges)-1].End, newSettings(opts))
		if err != nil {
			err = fmt.Errorf("%s: %w", p.Path, err)
			for _, done := range parts[:n] {
				err = errors.Join(err, os.Remove(done.Path))
			}
			return nil, err
		}
	}
	return parts, nil
}

// verb matches the verb of a pattern.
var verb = regexp.MustCompile(`%0?[1-9]?d`)

// partOf returns the n-th part, which must not exist.
func partOf(pattern string, n int, r rntuple.EntryRange) (Part, error) {
	at := verb.FindStringIndex(pattern)
	if at == nil {
		return Part{}, fmt.Errorf("%q does not say where the number of a part goes: %%d", pattern)
	}
	path := pattern[:at[0]] + fmt.Sprintf(pattern[at[0]:at[1]], n) + pattern[at[1]:]
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return Part{}, &os.PathError{Op: "create", Path: path, Err: os.ErrExist}
	}
	return Part{Path: path, Entries: r}, nil
}

func (p *Part) make(ctx context.Context, in Input, entries int64, set *settings) (*Report, error) {
	if tell := set.progress; tell != nil && entries > 0 {
		set.progress = func(done, total int64) {
			tell(int64(float64(total)*float64(p.Entries.First)/float64(entries))+done, total)
		}
	}
	return cut(ctx, p.Path, []Input{in}, set, func(context.Context, int, *source) (iter.Seq2[rntuple.EntryRange, error], error) {
		return one(p.Entries), nil
	})
}

// ranges returns which entries the parts have.
func (size PartSize) ranges(ctx context.Context, in Input, set *settings) ([]rntuple.EntryRange, error) {
	src, err := openSource(ctx, in, set.read...)
	if err != nil {
		return nil, err
	}
	defer src.close()
	clusters, err := src.Source.Clusters(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.name, err)
	}
	var all []rntuple.EntryRange
	first := int64(0)
	end := func(entry int64) {
		all, first = append(all, rntuple.EntryRange{First: first, End: entry}), entry
	}
	switch entries := src.Source.Entries; {
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
			_, bytes := stored(c)
			if bytes > left && c.First > first {
				end(c.First)
				left = size.Bytes
			}
			left -= bytes
		}
	default:
		return nil, errors.New("the size of parts is one positive number of entries, clusters or bytes")
	}
	end(src.Source.Entries)
	return all, nil
}
