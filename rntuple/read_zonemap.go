package rntuple

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/zone"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// ZoneMap returns the zone map of the RNTuple. It is empty if there is none, or if
// ReadOptions.ZoneMaps does not trust it. The map is read once, entirely, and takes 32 bytes of
// memory per field and cluster.
//
// Bounds for data that does not exist are ignored and reported by Map.Problems. ZoneMap returns
// errors only for page lists and the context.
func (r *Reader) ZoneMap() (*zonemap.Map, error) {
	m, err := zone.Of(r.ctx, r.ntuple)
	if err != nil {
		return nil, err
	}
	return &m.Map, nil
}

// A ZoneUse configures whether conditions use zone maps, and collects statistics. The zero value
// uses them. It is safe for concurrent use, except Off, which must not be modified during use.
type ZoneUse struct {
	Off bool // do not use zone maps

	mu               sync.Mutex
	clusters, passed int64
	problems         map[string]bool
}

// Clusters returns the number of clusters for which zone maps were consulted, and the number of
// these that were skipped. A cluster that was evaluated in parts counts several times.
func (u *ZoneUse) Clusters() (all, passed int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.clusters, u.passed
}

// Problems returns the reasons why zone maps, or parts of them, were ignored; see zonemap.Map.
func (u *ZoneUse) Problems() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.problems))
}

func (u *ZoneUse) count(clusters, passed int64, problems []string) {
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

// Possible yields the entries in e that might satisfy a condition, as non-empty ranges in order:
// all except those of clusters for which can returns false. can is called with the known bounds of
// a cluster, see zonemap.Map.Zone, and not for clusters without any.
//
// Zone maps are found through Chains, Selections, and the primary source of Joins; all entries of
// other sources are yielded. Chains open their files when the loop reaches them.
func Possible(s Source, e EntryRange, u *ZoneUse,
	can func(zone func(path string) (zonemap.Zone, bool)) bool) iter.Seq2[EntryRange, error] {
	return func(yield func(EntryRange, error) bool) {
		if err := notNegative(e.First); err != nil {
			yield(EntryRange{}, err)
			return
		}
		for at := e.First; at < e.End; {
			ranges := []EntryRange{{First: at, End: e.End}}
			end := e.End
			if u == nil || !u.Off {
				piece, err := pieceAt(s.context(), s, at,
					func(ctx context.Context, r *Reader, in func(EntryRange) EntryRange) (err error) {
						ranges, err = inReader(ctx, r, in,
							EntryRange{First: at, End: min(e.End, in(EntryRange{End: r.NumEntries()}).End)},
							u, can)
						return err
					})
				if err != nil {
					yield(EntryRange{}, err)
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

// inReader returns the possible entries of the range e of a source, which a Reader has: in returns
// which entries of the source are those of a range of the Reader's.
func inReader(ctx context.Context, r *Reader, in func(EntryRange) EntryRange, e EntryRange, u *ZoneUse,
	can func(func(string) (zonemap.Zone, bool)) bool) ([]EntryRange, error) {
	m, err := zone.Of(ctx, r.ntuple)
	if err != nil {
		return nil, err
	}
	var ranges []EntryRange
	add := func(r EntryRange) {
		if n := len(ranges); n > 0 && ranges[n-1].End == r.First {
			ranges[n-1].End = r.End
		} else {
			ranges = append(ranges, r)
		}
	}
	all, passed := int64(0), int64(0)
	end := func(i int) int64 { return in(EntryRange{End: m.Cluster(i).End}).End }
	for at := e.First; at < e.End; {
		i := sort.Search(m.Clusters(), func(i int) bool { return end(i) > at })
		if i == m.Clusters() { // none are known
			add(EntryRange{First: at, End: e.End})
			break
		}
		end := min(e.End, end(i))
		all++
		if can(func(path string) (zonemap.Zone, bool) { return m.Zone(path, i) }) {
			add(EntryRange{First: at, End: end})
		} else {
			passed++
		}
		at = end
	}
	if u != nil {
		problems := slices.Clone(m.Problems)
		for i := range problems {
			problems[i] = fmt.Sprintf("RNTuple %q: %s", r.Name(), problems[i])
		}
		u.count(all, passed, problems)
	}
	return ranges, nil
}
