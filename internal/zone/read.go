package zone

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"unsafe"

	"github.com/go-rntuple/go-rntuple/internal/field"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// A Map is what the zone map of an RNTuple says, as far as it fits the RNTuple, and its clusters.
// It is safe for concurrent use.
type Map struct {
	zonemap.Map
	clusters []*pagesource.Cluster // by first entry; none without a zone map
}

// maxProblems is the most reasons to ignore attributes that a Map lists.
const maxProblems = 20

// none returns the Map of an RNTuple that has no zone map.
func none(r *ntuple.Reader) *Map { return &Map{Map: zonemap.Map{Schema: r.Source.Schema}} }

// Has reports whether an RNTuple has a zone map.
func Has(r *ntuple.Reader) bool { return slices.ContainsFunc(r.Footer.AttributeSets, IsSet) }

// Read reads the zone map of an RNTuple. What cannot be read, or does not fit, is one of
// the Problems; errors are those of the RNTuple's own page lists, and of the context.
func Read(ctx context.Context, r *ntuple.Reader) (*Map, error) {
	m := none(r)
	if !Has(r) {
		return m, nil
	}
	var err error
	if m.clusters, err = r.Source.Clusters(ctx); err != nil {
		return nil, err
	}
	m.Bounds = map[schema.FieldID][]zonemap.Bounds{}
	misfits := map[string]int{}
	err = Each(ctx, r, func(first, n uint64, record *Record) {
		if problem := m.add(r.Source.Schema, first, n, record); problem != "" {
			if len(misfits) >= maxProblems && misfits[problem] == 0 {
				problem = "other reasons"
			}
			misfits[problem]++
		}
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		m = none(r)
		m.Problems = []string{fmt.Sprintf("zone map ignored: %v", err)}
		return m, nil
	}
	for problem, n := range misfits {
		m.Problems = append(m.Problems, fmt.Sprintf("zone map: %d of its attributes ignored: %s", n, problem))
	}
	slices.Sort(m.Problems)
	return m, nil
}

// Each calls use for each attribute of the zone map of an RNTuple.
func Each(ctx context.Context, r *ntuple.Reader, use func(first, n uint64, record *Record)) error {
	set, err := r.OpenSet(zonemap.SetName)
	if err != nil {
		return err
	}
	plan, err := field.Compile(set.Source, nil, reflect.TypeFor[attribute](),
		field.Options{Budget: r.Options.Limits.EntryBytes})
	if err != nil {
		return err
	}
	defer plan.Stop()
	plan.InOrder(0, set.Source.Entries)
	for first := int64(0); first < set.Source.Entries; {
		some := make([]attribute, min(set.Source.Entries-first, 1<<10))
		if err := plan.Read(ctx, first, int64(len(some)), unsafe.Pointer(unsafe.SliceData(some))); err != nil {
			return err
		}
		for i := range some {
			use(some[i].Start, some[i].Len, &some[i].Data)
		}
		first += int64(len(some))
	}
	return nil
}

// add adds what an attribute says of n entries from first on, or returns why it is to be
// ignored.
func (m *Map) add(s *schema.Schema, first, n uint64, record *Record) (problem string) {
	if record.Version != Version {
		return fmt.Sprintf("version %d of the convention", record.Version)
	}
	chain, err := s.Lookup(record.Field)
	if err != nil {
		return err.Error()
	}
	f := chain[len(chain)-1]
	k := KindOf(f)
	b, ok := record.bounds(k)
	if !ok {
		return fmt.Sprintf("field %q, which is of kind %v, has %v there", record.Field, k, record.claim())
	}
	i := sort.Search(len(m.clusters), func(i int) bool { return uint64(m.clusters[i].End) > first })
	if i == len(m.clusters) || uint64(m.clusters[i].First) != first || uint64(m.clusters[i].End-m.clusters[i].First) != n {
		return "there is no cluster of their entries"
	}
	chunk, err := m.clusters[i].Chunk(f, 0)
	if err != nil || placesOf(chunk) != record.Places {
		return fmt.Sprintf("field %q has other pages", record.Field)
	}
	zones := m.Bounds[f.ID]
	if zones == nil {
		zones = make([]zonemap.Bounds, len(m.clusters))
		m.Bounds[f.ID] = zones
	}
	zones[i] = b
	return ""
}

// claim describes the bounds that the record has, whatever they are of.
func (r *Record) claim() string {
	for k := zonemap.Bool; k <= zonemap.Size; k++ {
		if r.Kind == k.String() {
			b, _ := r.bounds(k)
			return b.String()
		}
	}
	return fmt.Sprintf("the kind %q", r.Kind)
}

// Clusters returns how many clusters the RNTuple has, if it has a zone map.
func (m *Map) Clusters() int { return len(m.clusters) }

// Cluster returns the i-th cluster by its first entry.
func (m *Map) Cluster(i int) *pagesource.Cluster { return m.clusters[i] }

// At returns the number of the cluster that has an entry.
func (m *Map) At(entry int64) int {
	return sort.Search(len(m.clusters), func(i int) bool { return m.clusters[i].End > entry })
}

// memo is the key under which Readers remember their map.
type memo struct{}

// Of returns the zone map of an RNTuple, which it reads once, if it may be trusted.
func Of(ctx context.Context, r *ntuple.Reader) (*Map, error) {
	trusted := !r.Source.Far()
	if r.Options.TrustZones != nil {
		trusted = *r.Options.TrustZones
	}
	if !trusted || !Has(r) {
		return none(r), nil
	}
	return ntuple.Memo(r, memo{}, func() (*Map, error) { return Read(ctx, r) })
}
