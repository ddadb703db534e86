package field

import (
	"testing"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
)

// TestStretch makes sure which spans are read together: those up to a multiple of 16384 entries of
// the cluster with at most 256 entries between them; and, unless just these are wanted, up to 256
// entries before and behind them that end at such a multiple.
func TestStretch(t *testing.T) {
	const first, end, limit = 1000, 41000, 1000 + 16384 // of the cluster, and the first multiple
	c := pagesource.NewCluster(0, envelope.Cluster{FirstEntry: first, NumEntries: end - first}, nil)
	type part [2]int64 // the first entry, and that behind the last one
	for _, test := range []struct {
		spans       []part
		first       int64
		n           int
		exact, wide part
	}{
		{[]part{{2000, 2010}}, 2000, 1, part{2000, 2010}, part{2000, 2010}},
		{[]part{{2000, 2010}, {2266, 2270}}, 2000, 2, part{2000, 2270}, part{2000, 2270}},
		{[]part{{2000, 2010}, {2267, 2270}}, 2000, 1, part{2000, 2010}, part{2000, 2010}},
		{[]part{{2000, 2010}, {2011, 2012}, {2100, 2101}, {2400, 2401}}, 2000, 3, part{2000, 2101}, part{2000, 2101}},
		{[]part{{9000, 9190}, {9200, 9300}}, 9000, 2, part{9000, 9300}, part{9000, 9300}},
		// What is left of a span.
		{[]part{{2000, 3000}, {3100, 3101}}, 2500, 2, part{2500, 3101}, part{2500, 3101}},
		// The entries before the spans.
		{[]part{{first + 256, 2000}}, first + 256, 1, part{first + 256, 2000}, part{first, 2000}},
		{[]part{{first + 257, 2000}}, first + 257, 1, part{first + 257, 2000}, part{first + 257, 2000}},
		{[]part{{limit + 7, limit + 8}}, limit + 7, 1, part{limit + 7, limit + 8}, part{limit, limit + 8}},
		// Those behind the spans.
		{[]part{{17000, limit - 256}}, 17000, 1, part{17000, limit - 256}, part{17000, limit}},
		{[]part{{17000, limit - 257}}, 17000, 1, part{17000, limit - 257}, part{17000, limit - 257}},
		{[]part{{40700, end - 3}}, 40700, 1, part{40700, end - 3}, part{40700, end}},
		// Spans over a multiple, or beyond it.
		{[]part{{17000, limit + 1}}, 17000, 1, part{17000, limit}, part{17000, limit}},
		{[]part{{17000, limit - 1}, {limit, limit + 9}}, 17000, 1, part{17000, limit - 1}, part{17000, limit}},
		{[]part{{17000, 17001}, {limit - 300, limit + 9}}, 17000, 2, part{17000, limit}, part{17000, limit}},
		{[]part{{40800, 40801}, {end - 1, end}, {end, end + 5}}, 40800, 2, part{40800, end}, part{40800, end}},
	} {
		spans := make([]columnar.Span, len(test.spans))
		for i, s := range test.spans {
			spans[i] = columnar.Span{First: s[0], N: s[1] - s[0]}
		}
		for exact, want := range map[bool]part{true: test.exact, false: test.wide} {
			n, all := stretch(spans, test.first, c, exact)
			if n != test.n || all != (columnar.Span{First: want[0], N: want[1] - want[0]}) {
				t.Errorf("%v from %d on, exactly %v: %d spans, entries %d to %d, want %d, %v", test.spans, test.first, exact,
					n, all.First, all.First+all.N, test.n, want)
			}
		}
	}
}

// TestSkip makes sure that reading in order goes forward only, and is not begun.
func TestSkip(t *testing.T) {
	for _, test := range []struct{ next, to, want int64 }{{0, 5, 5}, {5, 5, 5}, {7, 5, 7}, {-1, 5, -1}, {-1, 0, -1}} {
		p := Plan{next: test.next}
		if p.skip(test.to); p.next != test.want {
			t.Errorf("from %d to %d: %d, want %d", test.next, test.to, p.next, test.want)
		}
	}
}
