package storagemap

import (
	"cmp"
	"fmt"
	"slices"
)

// A Node is something with a size: a column, or a field with what is below it.
type Node struct {
	Name     string   // its path; the end of it must do where it does not fit
	Lines    []string // what else is written in its tile if there is room
	Title    string   // what is shown on hover
	Size     int64    // bytes on disk, 0 or more; of a node with children, their sum
	Ratio    float64  // how many times smaller it is on disk than in memory; 0 if that is unknown
	Children []*Node
}

// Sum sets the size of every node with children to the sum of theirs, and returns that of n.
func (n *Node) Sum() int64 {
	if len(n.Children) > 0 {
		n.Size = 0
		for _, c := range n.Children {
			n.Size += c.Sum()
		}
	}
	return n.Size
}

// A Rect is a rectangle; y grows downwards.
type Rect struct{ X, Y, W, H float64 }

// A Tile is the rectangle of a node.
type Tile struct {
	Rect
	Node   *Node
	Depth  int  // 0 for the root
	IsLeaf bool // nothing lies on it
}

// minArea is the area of a tile that is not divided further, and below which tiles of
// one parent are put together. It limits how many there can be.
const minArea = 12

// Treemap divides frame among the leaves of a tree, in proportion to their sizes. The
// tiles of inner nodes come before those in them. Nodes of size 0 have no tile, and those
// too small to be seen have one together. Sum must have been called.
func Treemap(root *Node, frame Rect) []Tile {
	if root.Size <= 0 || frame.W <= 0 || frame.H <= 0 {
		return nil
	}
	return appendTiles(nil, root, frame, 0)
}

func appendTiles(tiles []Tile, n *Node, r Rect, depth int) []Tile {
	isLeaf := len(n.Children) == 0 || r.W*r.H < minArea
	tiles = append(tiles, Tile{Rect: r, Node: n, Depth: depth, IsLeaf: isLeaf})
	if isLeaf {
		return tiles
	}
	children := visible(n, r)
	sizes := make([]float64, len(children))
	for i, c := range children {
		sizes[i] = float64(c.Size)
	}
	for i, part := range squarify(sizes, r) {
		tiles = appendTiles(tiles, children[i], part, depth+1)
	}
	return tiles
}

// visible returns the children of n by size, the largest first, with a node for all those
// that are too small for r.
func visible(n *Node, r Rect) []*Node {
	least := minArea / (r.W * r.H) * float64(n.Size)
	var children, small []*Node
	for _, c := range n.Children {
		switch {
		case c.Size <= 0:
		case float64(c.Size) < least:
			small = append(small, c)
		default:
			children = append(children, c)
		}
	}
	if len(small) == 1 {
		children = append(children, small[0])
	} else if len(small) > 1 {
		rest := &Node{Title: fmt.Sprintf("%d smaller ones", len(small))}
		for _, c := range small {
			rest.Size += c.Size
		}
		children = append(children, rest)
	}
	slices.SortStableFunc(children, func(a, b *Node) int { return cmp.Compare(b.Size, a.Size) })
	return children
}

// squarify divides r in proportion to sizes, which are positive and begin with the
// largest, into rectangles that are nearly squares (Bruls, Huizing and van Wijk:
// Squarified Treemaps, 2000): along the shorter side it makes rows, each as long as the
// worst of its rectangles gets better.
func squarify(sizes []float64, r Rect) []Rect {
	var parts []Rect
	rest := 0.0
	for _, s := range sizes {
		rest += s
	}
	for len(sizes) > 0 {
		short := min(r.W, r.H)
		scale := r.W * r.H / rest
		n, sum := 1, sizes[0]
		for n < len(sizes) && worst(sizes[:n+1], sum+sizes[n], scale, short) <= worst(sizes[:n], sum, scale, short) {
			sum += sizes[n]
			n++
		}
		row, down := r, r.W >= r.H
		if n == len(sizes) {
			sum = rest // without errors of rounding, the last row fills what is left
		}
		if down {
			row.W = r.W * sum / rest
			r.X, r.W = r.X+row.W, r.W-row.W
		} else {
			row.H = r.H * sum / rest
			r.Y, r.H = r.Y+row.H, r.H-row.H
		}
		parts = appendRow(parts, sizes[:n], sum, row, down)
		sizes, rest = sizes[n:], max(rest-sum, 0)
	}
	return parts
}

// worst returns the worst ratio of sides in a row of sizes, which lies along a side of the
// given length.
func worst(sizes []float64, sum, scale, side float64) float64 {
	thick := sum * scale / side
	longest, shortest := sizes[0]*scale/thick, sizes[len(sizes)-1]*scale/thick
	return max(longest/thick, thick/shortest)
}

// appendRow divides a row from top to bottom, or from left to right.
func appendRow(parts []Rect, sizes []float64, sum float64, row Rect, down bool) []Rect {
	done := 0.0
	at := func(i int) float64 { // where the i-th part begins, from 0 to 1
		if i == len(sizes) {
			return 1
		}
		return min(done/sum, 1)
	}
	for i, s := range sizes {
		from := at(i)
		done += s
		to := at(i + 1)
		part := row
		if down {
			part.Y, part.H = row.Y+from*row.H, (to-from)*row.H
		} else {
			part.X, part.W = row.X+from*row.W, (to-from)*row.W
		}
		parts = append(parts, part)
	}
	return parts
}
