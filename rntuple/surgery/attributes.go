package surgery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/schema"
)

// The fields of attribute sets that say which entries an attribute belongs to.
const (
	rangeStart = "_rangeStart"
	rangeLen   = "_rangeLen"
)

// addSet appends an attribute set to that of the output with the given name. The set
// belongs to an RNTuple with the given number of entries, of which those in taken have
// been appended to the output, the first of them as the entry first.
func (r *run) addSet(ctx context.Context, set *source, name string, taken []rntuple.EntryRange,
	entries, first int64) error {
	o := r.out.sets[name]
	if o == nil {
		var err error
		if o, err = r.beginSet(set, name); err != nil {
			return err
		}
		r.out.sets[name] = o
	}
	origins := map[schema.FieldID]origin{}
	if err := o.match(origins, set, "", Strict, r.ConvertTypes); err != nil {
		return err
	}
	if r.choose != nil && entries > 0 && (len(taken) != 1 || taken[0].Len() != entries) {
		return o.copyCut(ctx, origins, set, taken, entries, first)
	}
	if first != 0 {
		if err := o.change(origins, rangeStart, func(from *origin) { from.shift = uint64(first) }); err != nil {
			return set.fail(err)
		}
	}
	m := newMapping(o, origins, set)
	if err := m.copyEntries(ctx, rntuple.EntryRange{End: set.Source.Entries}); err != nil {
		return err
	}
	return m.flush(ctx)
}

// change changes the origin of a top-level field of 64-bit unsigned integers.
func (o *output) change(origins map[schema.FieldID]origin, name string, change func(*origin)) error {
	f, err := numberField(o.shape.Fields, name)
	if err != nil {
		return err
	}
	from := origins[f.ID]
	change(&from)
	origins[f.ID] = from
	return nil
}

// copyCut appends the attributes of a set that belong to entries in taken, of so many, the
// first of which has become the entry first. The range of an attribute keeps the entries that
// were taken; an attribute with none of them is dropped. One whose range is empty goes with the
// entry that it is before, or with the last one.
func (o *output) copyCut(ctx context.Context, origins map[schema.FieldID]origin, set *source,
	taken []rntuple.EntryRange,
	entries, first int64) error {
	starts, lengths, err := set.ranges(ctx)
	if err != nil {
		return set.fail(err)
	}
	place, kept := placeIn(taken, first), make([]bool, len(starts))
	for i, start := range starts {
		begin, end := place(int64(start)), place(int64(start+lengths[i]))
		if kept[i] = end > begin; lengths[i] == 0 {
			at := min(int64(start), entries-1)
			kept[i] = place(at+1) > place(at)
		}
		starts[i], lengths[i] = uint64(begin), uint64(max(0, end-begin))
	}
	err = errors.Join(o.change(origins, rangeStart, func(from *origin) { from.numbers = starts }),
		o.change(origins, rangeLen, func(from *origin) { from.numbers = lengths }))
	if err != nil {
		return set.fail(err)
	}
	m := newMapping(o, origins, set)
	m.rewrite = true
	for i := 0; i < len(kept); i++ {
		begin := i
		for i < len(kept) && kept[i] {
			i++
		}
		if err := m.copyEntries(ctx, rntuple.EntryRange{First: int64(begin), End: int64(i)}); err != nil {
			return err
		}
	}
	return m.flush(ctx)
}

// attributeBytes is the memory that an attribute takes while a set is cut, in bytes.
const attributeBytes = 16

// ranges returns the ranges of entries of all attributes of a set.
func (s *source) ranges(ctx context.Context) (starts, lengths []uint64, err error) {
	if n, limit := s.Source.Entries, s.Reader.Options.Limits.EntryBytes; n > limit/attributeBytes {
		return nil, nil, &frame.LimitError{Limit: "EntryBytes", What: fmt.Sprintf("list of %d attributes", n),
			Need: min(n, math.MaxInt64/attributeBytes) * attributeBytes, Have: limit}
	}
	if starts, err = s.numbers(ctx, rangeStart); err != nil {
		return nil, nil, err
	}
	if lengths, err = s.numbers(ctx, rangeLen); err != nil {
		return nil, nil, err
	}
	for i, start := range starts {
		if start > math.MaxInt64 || lengths[i] > math.MaxInt64-start {
			return nil, nil, frame.Corrupt("attribute %d has %d entries from %d on, there cannot be as many", i, lengths[i],
				start)
		}
	}
	return starts, lengths, nil
}

// placeIn returns a function that returns where an entry is now, or the next one
// that is taken, if the first one that is taken is now the given one.
func placeIn(taken []rntuple.EntryRange, first int64) func(entry int64) int64 {
	before := make([]int64, len(taken)+1) // entries in the ranges before
	for i, r := range taken {
		before[i+1] = before[i] + r.Len()
	}
	return func(entry int64) int64 {
		i := sort.Search(len(taken), func(i int) bool { return taken[i].End > entry })
		if i == len(taken) {
			return first + before[i]
		}
		return first + before[i] + max(0, entry-taken[i].First)
	}
}

// numbers returns the values of a top-level field of 64-bit unsigned integers.
func (s *source) numbers(ctx context.Context, name string) ([]uint64, error) {
	f, err := numberField(s.Source.Schema.Fields, name)
	if err != nil {
		return nil, err
	}
	clusters, err := s.Source.Clusters(ctx)
	if err != nil {
		return nil, err
	}
	ahead := s.Source.NewReadAhead()
	defer ahead.Stop()
	c, err := pagesource.NewColumn[uint64](ahead, f, 0)
	if err != nil {
		return nil, err
	}
	var all []uint64
	for _, cluster := range clusters {
		n, err := c.Len(cluster)
		if err == nil && n != cluster.End-cluster.First {
			err = frame.Corrupt("field %q has %d elements in cluster %d of %d entries", name, n, cluster.ID,
				cluster.End-cluster.First)
		}
		for at := int64(0); err == nil && at < n; {
			var some []uint64
			some, err = c.Next(ctx, cluster, at, n-at)
			all, at = append(all, some...), at+int64(len(some))
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// numberField returns the field of a name, which must have 64-bit unsigned integers.
func numberField(fields []*schema.Field, name string) (*schema.Field, error) {
	other := func(columns []*schema.Column) bool { return columns[0].Format().Kind() != reflect.Uint64 }
	i := slices.IndexFunc(fields, func(f *schema.Field) bool {
		return f.Name == name && f.Shape == schema.Scalar && !slices.ContainsFunc(f.Columns, other)
	})
	if i < 0 {
		return nil, frame.Unsupported("there is no field %q of 64-bit numbers", name)
	}
	return fields[i], nil
}
