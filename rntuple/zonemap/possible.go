package zonemap

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// A Use says whether conditions use zone maps, and what came of it. The zero value uses
// them. It is safe for concurrent use, but for Off, which must not change meanwhile.
type Use struct {
	Off bool // do not use zone maps

	mu               sync.Mutex
	clusters, passed int64
	problems         map[string]bool
}

// Clusters returns how many clusters there were for which zone maps have been asked, and how
// many of these were passed over. One that was asked for in parts counts several times.
func (u *Use) Clusters() (all, passed int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.clusters, u.passed
}

// Problems says why zone maps, or parts of them, were ignored; see Map.Problems.
func (u *Use) Problems() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.problems))
}

func (u *Use) count(clusters, passed int64, problems []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clusters, u.passed = u.clusters+clusters, u.passed+passed
	for _, p := range problems {
		if u.problems == nil {
			u.problems = map[string]bool{}
		}
		u.problems[p] = true
	}
}

// Possible yields those of the entries e of a source that may meet a condition, as ranges in
// order that are not empty: all but the ones of clusters for which can returns false. The
// function is given what is known of a cluster, as Map.Zone tells it. It is not called where
// nothing is known.
//
// The Reader of each entry is found in chains, in selections, and for the primary source of joins; entries
// of other sources are all possible. Chains open their files as the loop gets to them.
func Possible(s rntuple.Source, e rntuple.EntryRange, u *Use, can func(zone func(path string) (Zone, bool)) bool) iter.Seq2[rntuple.EntryRange, error] {
	return func(yield func(rntuple.EntryRange, error) bool) {
		for at := e.First; at < e.End; {
			ranges := []rntuple.EntryRange{{First: at, End: e.End}}
			end := e.End
			if u == nil || !u.Off {
				piece, err := rntuple.PieceAt(s, at, func(ctx context.Context, r *rntuple.Reader, in func(rntuple.EntryRange) rntuple.EntryRange) (err error) {
					ranges, err = inReader(ctx, r, in, rntuple.EntryRange{First: at, End: min(e.End, in(rntuple.EntryRange{End: r.NumEntries()}).End)}, u, can)
					return err
				})
				if err != nil {
					yield(rntuple.EntryRange{}, err)
					return
				}
				if piece > at {
					end = min(end, piece)
				}
			}
			for _, r := range ranges {
				if r.End = min(r.End, end); r.Len() > 0 && !yield(r, nil) {
					return
				}
			}
			at = end
		}
	}
}

// inReader returns the possible entries of the range e of a source, which a Reader has: in returns which entries of the source
// are those of a range of the Reader's.
func inReader(ctx context.Context, r *rntuple.Reader, in func(rntuple.EntryRange) rntuple.EntryRange, e rntuple.EntryRange, u *Use, can func(func(string) (Zone, bool)) bool) ([]rntuple.EntryRange, error) {
	m, err := of(ctx, r)
	if err != nil {
		return nil, err
	}
	var ranges []rntuple.EntryRange
	add := func(r rntuple.EntryRange) {
		if n := len(ranges); n > 0 && ranges[n-1].End == r.First {
			ranges[n-1].End = r.End
		} else {
			ranges = append(ranges, r)
		}
	}
	all, passed := int64(0), int64(0)
	end := func(i int) int64 { return in(rntuple.EntryRange{End: m.zones.Cluster(i).End}).End }
	for at := e.First; at < e.End; {
		i := sort.Search(m.zones.Clusters(), func(i int) bool { return end(i) > at })
		if i == m.zones.Clusters() { // none are known
			add(rntuple.EntryRange{First: at, End: e.End})
			break
		}
		end := min(e.End, end(i))
		all++
		if can(func(path string) (Zone, bool) { return m.Zone(path, i) }) {
			add(rntuple.EntryRange{First: at, End: end})
		} else {
			passed++
		}
		at = end
	}
	if u != nil {
		problems := slices.Clone(m.Problems())
		for i := range problems {
			problems[i] = fmt.Sprintf("RNTuple %q: %s", r.Name(), problems[i])
		}
		u.count(all, passed, problems)
	}
	return ranges, nil
}
