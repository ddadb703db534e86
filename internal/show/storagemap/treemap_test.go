package storagemap

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
)

// randomTree returns a tree whose leaves differ in size by many orders of magnitude; some
// are empty.
func randomTree(r *rand.Rand, depth int) *Node {
	n := &Node{Name: fmt.Sprint(r.Int())}
	if depth == 0 || r.Intn(4) == 0 {
		if r.Intn(8) > 0 {
			n.Size = int64(math.Exp(r.Float64() * 30))
		}
		return n
	}
	for range r.Intn(12) {
		n.Children = append(n.Children, randomTree(r, depth-1))
	}
	return n
}

// The leaves fill the frame, each in proportion to its size, and do not overlap.
func TestTreemap(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	drawn := 0
	for n := range 300 {
		root := &Node{Children: []*Node{randomTree(r, n%5), randomTree(r, n%3)}}
		total := root.Sum()
		frame := Rect{r.Float64() * 100, 50, 1 + r.Float64()*2000, 1 + r.Float64()*1000}
		all := Treemap(root, frame)
		if total == 0 {
			if all != nil {
				t.Fatalf("%d: %d tiles of nothing", n, len(all))
			}
			continue
		}
		var tiles []Tile
		size, area, eps := int64(0), 0.0, 1e-6*(frame.W+frame.H)
		for _, tile := range all {
			if tile.X < frame.X-eps || tile.Y < frame.Y-eps || tile.X+tile.W > frame.X+frame.W+eps ||
				tile.Y+tile.H > frame.Y+frame.H+eps {
				t.Fatalf("%d: %+v is not in %+v", n, tile.Rect, frame)
			}
			want := frame.W * frame.H * float64(tile.Node.Size) / float64(total)
			if got := tile.W * tile.H; math.Abs(got-want) > 1e-6*frame.W*frame.H {
				t.Fatalf("%d: area %g of a size of %d in %d, want %g", n, got, tile.Node.Size, total, want)
			}
			if tile.IsLeaf {
				size += tile.Node.Size
				area += tile.W * tile.H
				tiles = append(tiles, tile)
			}
		}
		if size != total || math.Abs(area/(frame.W*frame.H)-1) > 1e-9 {
			t.Fatalf("%d: sizes %d of %d, areas %g of %g", n, size, total, area, frame.W*frame.H)
		}
		for i, a := range tiles {
			for _, b := range tiles[:i] {
				if min(a.X+a.W, b.X+b.W)-max(a.X, b.X) > eps && min(a.Y+a.H, b.Y+b.H)-max(a.Y, b.Y) > eps {
					t.Fatalf("%d: %+v overlaps %+v", n, a.Rect, b.Rect)
				}
			}
		}
		if limit := 2*frame.W*frame.H/minArea + 10; float64(len(tiles)) > limit {
			t.Errorf("%d: %d tiles in %+v", n, len(tiles), frame)
		}
		drawn += len(tiles)
	}
	if drawn < 5000 {
		t.Errorf("only %d tiles", drawn)
	}
}

// The example of the article: sizes 6, 6, 4, 3, 2, 2, 1 in a frame of 6 by 4.
func TestSquarify(t *testing.T) {
	want := []Rect{{0, 0, 3, 2}, {0, 2, 3, 2}, {3, 0, 12. / 7, 7. / 3}, {3 + 12./7, 0, 9. / 7, 7. / 3}}
	for i, r := range squarify([]float64{6, 6, 4, 3, 2, 2, 1}, Rect{0, 0, 6, 4})[:4] {
		if w := want[i]; math.Abs(r.X-w.X)+math.Abs(r.Y-w.Y)+math.Abs(r.W-w.W)+math.Abs(r.H-w.H) > 1e-9 {
			t.Errorf("%d: got %+v, want %+v", i, r, w)
		}
	}
}
