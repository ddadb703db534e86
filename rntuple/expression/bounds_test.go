package expression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/test/oracle"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
)

// A bounded is a node whose values have bounds.
type bounded interface {
	// forget makes the node compute its values again.
	forget()
	// outside says which value, or number of items of an array, is not within its bounds; tight
	// reports whether there are bounds.
	outside(z *zones) (what string, tight bool)
}

func (n *node[T]) forget() {
	n.seen = -1
	for d := n.of; d != nil; d = d.up {
		d.seen = -1
	}
}

func (n *node[T]) outside(z *zones) (what string, tight bool) {
	for d := n.of; d.up != nil; d = d.up {
		if d.seen != *d.clock || d.selection {
			continue
		}
		s := d.span(z)
		for i, begin := range d.offsets[:len(d.offsets)-1] {
			if size := d.offsets[i+1] - begin; size < s.low || size > s.high {
				return fmt.Sprintf("an array of %d items, with %+v", size, s), true
			}
		}
	}
	if n.seen != *n.of.clock {
		return "", false
	}
	e := n.extent(z)
	for i, v := range n.all {
		x, isFloat := any(v).(float64)
		switch {
		case n.valid != nil && !n.valid[i]:
			if !e.missing {
				return fmt.Sprintf("row %d is missing, with %+v", i, e), true
			}
		case isFloat && x != x:
			if !e.nan {
				return fmt.Sprintf("row %d is NaN, with %+v", i, e), true
			}
		case !e.some || before(v, e.low) || before(e.high, v):
			return fmt.Sprintf("row %d is %v, with %+v", i, v, e), true
		}
	}
	return "", n.extents.in != nil
}

// TestBounds evaluates random expressions for the entries of clusters, and makes sure that no value
// of any node, no number of items and no error is beyond what the node says of the cluster, from
// zones that are those of the values or wider.
func TestBounds(t *testing.T) {
	random := sampletest.Rand(t)
	path := filepath.Join(t.TempDir(), "zoo.root")
	if err := oracle.WriteZoo(path, 12, random.Uint64(),
		&rntuple.WriteOptions{ZoneMap: []string{"*"}, MaxUnzippedClusterSize: 1, Workers: 1}); err != nil {
		t.Fatal(err)
	}
	zoo, err := rntuple.Open(path, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { zoo.Close() })
	each := 300
	if sampletest.Whole() {
		each = 100_000
	}
	for name, r := range map[string]*rntuple.Reader{"zoo": zoo, "wide": wideFile(t, 40, random.Uint64())} {
		w := newWatch(t, r, random)
		g := oracle.NewGenerator(random, w.fields.Types)
		g.Risk = 0.01
		for i := range each {
			w.check(g.Expression(1 + i%3))
			w.check(g.Condition(1 + i%3))
		}
		t.Logf("%s: %d expressions, %d nodes in clusters, of which %d have bounds", name, w.expressions, w.nodes, w.tight)
		if w.tight < w.nodes/3 {
			t.Errorf("%s: too few nodes have bounds", name)
		}
	}
}

// A watch looks at the nodes of expressions about a file.
type watch struct {
	*testing.T
	*rand.Rand
	r                         *rntuple.Reader
	fields                    *oracle.Fields
	zones                     *zonemap.Map
	expressions, nodes, tight int
}

func newWatch(t *testing.T, r *rntuple.Reader, random *rand.Rand) *watch {
	fields, err := oracle.FieldsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	zones, err := r.ZoneMap()
	if err != nil {
		t.Fatal(err)
	}
	return &watch{T: t, Rand: random, r: r, fields: fields, zones: zones}
}

// check evaluates an expression for all entries, one cluster after another.
func (w *watch) check(text string) {
	e, err := Parse(text)
	if err != nil {
		return
	}
	var nodes []bounded
	observe = func(n any) { nodes = append(nodes, n.(bounded)) }
	p := &Program{exprs: []*Expression{e}, scope: newScope(w.r), outputs: plainOutput}
	in, _, err := p.build()
	observe = nil
	if err != nil {
		return
	}
	w.expressions++
	in.begin(w.r, 0)
	paths := in.leaves.paths
	if len(paths) == 0 {
		paths = p.scope.names[:1]
	}
	clusters, err := w.r.Clusters()
	if err != nil {
		w.Fatal(err)
	}
	for i, c := range clusters {
		possible := in.possible(w.zonesOf(i))
		for b, err := range rntuple.BatchesIn(w.r, rntuple.EntryRange{First: c.First, End: c.First + c.Len()},
			&rntuple.BatchOptions{Fields: paths}) {
			if err != nil {
				w.Fatal(err)
			}
			for _, n := range nodes {
				n.forget() // what no step of reduce computes is left from the cluster before
			}
			_, err := in.evaluate(w.r, b, func(r *run) {
				if in.outputs[0] != nil {
					in.outputs[0](r)
				}
				if in.truths[0] != nil {
					in.truths[0].rows(r)
				}
			})
			if err != nil {
				if !possible {
					w.Errorf("%s: cluster %d is ruled out, but %v", text, i, err)
				}
				continue
			}
			for _, n := range nodes {
				what, tight := n.outside(&in.zones)
				if what != "" {
					w.Errorf("%s: cluster %d: %s", text, i, what)
					return
				}
				if w.nodes++; tight {
					w.tight++
				}
			}
		}
	}
}

// zonesOf returns the zones of a cluster, or wider ones, or some of them.
func (w *watch) zonesOf(cluster int) func(path string) (zonemap.Zone, bool) {
	type known struct {
		zone zonemap.Zone
		ok   bool
	}
	all := map[string]known{}
	return func(path string) (zonemap.Zone, bool) {
		k, ok := all[path]
		if !ok {
			k.zone, k.ok = w.zones.Zone(path, cluster)
			switch w.IntN(8) {
			case 0:
				k.ok = false
			case 1, 2, 3:
				k.zone.Bounds = w.wider(k.zone.Bounds)
			}
			all[path] = k
		}
		return k.zone, k.ok
	}
}

// wider returns bounds that have more in them.
func (w *watch) wider(b zonemap.Bounds) zonemap.Bounds {
	more := zonemap.Bounds{Kind: b.Kind}
	switch b.Kind {
	case zonemap.Bool:
		more.Least = w.Uint64N(2)
		more.Greatest = more.Least
	case zonemap.Int:
		n := []int64{0, -1, 1, 5, -100, math.MaxInt64, math.MinInt64, 1 << 53, -1 << 31}[w.IntN(9)]
		more.Least, more.Greatest = uint64(n), uint64(n)
	case zonemap.Uint, zonemap.Size:
		more.Least = []uint64{0, 1, 2, 7, 1 << 32, math.MaxInt64, math.MaxUint64}[w.IntN(7)]
		more.Greatest = more.Least
	case zonemap.Float:
		x := []float64{0, math.Copysign(0, -1), 1, -1, 10, -0.5, math.MaxFloat64, 5e-324, math.Inf(1),
			math.Inf(-1)}[w.IntN(10)]
		more.Least, more.NaN = math.Float64bits(x), w.IntN(4) == 0
		more.Greatest = more.Least
	}
	return b.Join(more)
}
