package storagemap

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// A Picture is what Write draws. All texts may hold anything: they are escaped.
type Picture struct {
	Title    string
	Subtitle string
	Storage  *Node    // the tree of fields and columns
	All      []Extent // everything that belongs to the RNTuple
	Rows     []Row    // at most MaxRows
	Note     string   // about the rows
	Clusters int      // number of clusters

	Size  func(bytes int64) string // formats a size
	Hover func(m Mark) string      // describes a mark of a row
}

// A Row of the strip has the pages of a column.
type Row struct {
	Name    string
	Title   string // what is shown on hover
	Extents []Extent
}

// MaxRows is the number of rows that a picture has room for.
const MaxRows = 100

// maxTitles is the most marks in a picture that each have a text of their own.
const maxTitles = 4000

// Measures of the picture.
const (
	pageWidth  = 1200.0
	margin     = 16.0
	inner      = pageWidth - 2*margin
	mapHeight  = 520.0
	labelWidth = 190.0
	stripLeft  = margin + labelWidth
	stripWidth = inner - labelWidth
	fileHeight = 20.0 // of the row of the whole file
	sizeHeight = 44.0 // of the row of page sizes
)

// style has the colours of text and ground for light and dark viewers.
const style = `
text{font-family:Helvetica,Arial,DejaVu Sans,sans-serif;fill:#1c1f24}
.dim{fill:#5c636e}
.ground{fill:#ffffff}
.track{fill:#eceef1}
.line{stroke:#ffffff;fill:none;pointer-events:none}
.axis{fill:#a7adb6}
.sizes{fill:#5c636e}
.black{fill:#000000;pointer-events:none}
.white{fill:#ffffff;pointer-events:none}
rect.tile:hover{stroke:#e6007e;stroke-width:2}
@media (prefers-color-scheme:dark){
text{fill:#e8eaed}
.dim{fill:#a0a7b2}
.ground{fill:#15181c}
.track{fill:#2a2f36}
.line{stroke:#15181c}
.axis{fill:#59616c}
.sizes{fill:#a0a7b2}
.black{fill:#000000}
.white{fill:#ffffff}
}
`

// Write writes the picture as SVG. Its size is limited by that of the picture, not by the
// number of pages or columns.
func (p *Picture) Write(w io.Writer) error {
	rowHeight := 15.0
	if len(p.Rows) > 40 {
		rowHeight = 11
	}
	mapTop := 66.0
	legendTop := mapTop + mapHeight + 14
	stripTop := legendTop + 70
	height := stripTop + 24 + fileHeight + 6 + sizeHeight + 10 + rowHeight*float64(len(p.Rows)) + 50
	s := newSVG(w)
	s.begin("svg", "xmlns", "http://www.w3.org/2000/svg", "width", pageWidth, "height", height,
		"viewBox", "0 0 "+number(pageWidth)+" "+number(height), "role", "img")
	s.title(p.Title)
	s.element("style", style)
	s.begin("defs")
	s.begin("linearGradient", "id", "rnt-ratio")
	for i, c := range ratios {
		s.element("stop", "", "offset", float64(i)/float64(len(ratios)-1), "stop-color", c.String())
	}
	s.end()
	s.end()
	s.rect(Rect{0, 0, pageWidth, height}, "", "class", "ground")
	s.text(margin, 30, 19, fit(p.Title, 19, inner), "font-weight", "bold")
	s.text(margin, 52, 13, fit(p.Subtitle, 13, inner), "class", "dim")
	p.treemap(s, Rect{margin, mapTop, inner, mapHeight})
	p.ratioLegend(s, legendTop)
	p.strip(s, stripTop, rowHeight)
	s.end()
	return s.close()
}

func (p *Picture) treemap(s *svg, frame Rect) {
	tiles := Treemap(p.Storage, frame)
	if len(tiles) == 0 {
		s.rect(frame, "", "class", "track")
		s.text(frame.X+frame.W/2, frame.Y+frame.H/2, 14, "nothing is on disk", "class", "dim", "text-anchor", "middle")
		return
	}
	for _, t := range tiles {
		if t.IsLeaf {
			s.rect(t.Rect, t.Node.Title, "class", "tile", "fill", ratioColour(t.Node.Ratio).String())
		}
	}
	deepest := 0
	for _, t := range tiles {
		deepest = max(deepest, t.Depth)
	}
	for depth := deepest; depth > 0; depth-- {
		for _, t := range tiles {
			if t.Depth == depth && min(t.W, t.H) > 2 {
				s.rect(t.Rect, "", "class", "line", "stroke-width", min(max(0.5, 3-float64(depth)), min(t.W, t.H)/8))
			}
		}
	}
	for _, t := range tiles {
		if t.IsLeaf {
			label(s, t)
		}
	}
}

// label writes name and lines of a tile's node where they fit.
func label(s *svg, t Tile) {
	const pad = 5.0
	class := "black"
	if ratioColour(t.Node.Ratio).isDark() {
		class = "white"
	}
	long, short, upright := t.W-2*pad, t.H-2*pad, false
	name, size := chooseName(t.Node.Name, long, short)
	if name == "" && t.H > t.W {
		long, short, upright = short, long, true
		name, size = chooseName(t.Node.Name, long, short)
	}
	if name == "" {
		return
	}
	x, y := t.X+pad, t.Y+pad
	turn := []any{"class", class}
	if upright { // the text runs down, and its lines follow each other from right to left
		x, y = t.X+t.W-pad, t.Y+pad
		turn = append(turn, "transform", "rotate(90 "+number(x)+" "+number(y)+")")
	}
	s.text(x, y+0.8*size, size, name, turn...)
	below := 1.25 * size
	size = min(size, 11)
	for _, line := range t.Node.Lines {
		if below+size > short || !fits(line, size, long) {
			return
		}
		s.text(x, y+below+0.8*size, size, line, append(turn, "fill-opacity", 0.85)...)
		below += 1.25 * size
	}
}

// chooseName returns as much of the end of a path as fits into a line of the given
// length, and the size of the text; nothing if not even the last name fits.
func chooseName(path string, long, thick float64) (name string, size float64) {
	for name := range endings(path) {
		for _, size := range []float64{14, 12, 10, 8.5} {
			if size <= thick && fits(name, size, long) {
				return name, size
			}
		}
	}
	return "", 0
}

func (p *Picture) ratioLegend(s *svg, top float64) {
	s.text(margin, top+10, 12, "Area: bytes on disk. Colour: how many times smaller than in memory:")
	left := margin + 480
	s.rect(Rect{left, top, 260, 12}, "", "fill", "url(#rnt-ratio)")
	for i := range maxDoublings + 1 {
		ratio := strconv.Itoa(1 << i)
		if i == maxDoublings {
			ratio += " and more"
		}
		s.text(left+260*float64(i)/maxDoublings, top+25, 11, ratio, "class", "dim", "text-anchor", "middle")
	}
	s.rect(Rect{left + 330, top, 12, 12}, "", "fill", greyFill.String())
	s.text(left+348, top+10, 12, "metadata, checksums")
}

func (p *Picture) strip(s *svg, top, rowHeight float64) {
	s.text(margin, top-14, 15, "Layout of the file", "font-weight", "bold")
	s.text(stripLeft, top-14, 12, fit(p.Note, 12, stripWidth-330), "class", "dim")
	p.clusterLegend(s, top-24)
	all := Union(append([]Extent{}, p.All...))
	if len(all) == 0 {
		s.text(margin, top+16, 12, "There are no pages in the file.", "class", "dim")
		return
	}
	a := axis{from: all[0].Off, to: all[len(all)-1].End}
	y := top + 20
	bottom := y + fileHeight + 6 + sizeHeight + 10 + rowHeight*float64(len(p.Rows))
	p.ticks(s, a, y, bottom)

	gaps := Gaps(all)
	about := fmt.Sprintf("gaps (%d, together %s), where keys, free space and other objects lie.",
		len(gaps), p.Size(Bytes(gaps)))
	rows := make([][]Mark, len(p.Rows))
	marks := Marks(all, a.resolution())
	total := len(marks)
	for i, r := range p.Rows {
		rows[i] = Marks(Union(append([]Extent{}, r.Extents...)), a.resolution())
		total += len(rows[i])
	}
	titled := total <= maxTitles

	s.text(stripLeft-8, y+fileHeight-6, 12, "all", "text-anchor", "end", "font-weight", "bold")
	s.rect(Rect{stripLeft, y, stripWidth, fileHeight}, "", "class", "track")
	p.marks(s, a, marks, y, fileHeight, 0, titled)
	s.begin("g", "fill", gapColour.String())
	s.title(about)
	for _, m := range Marks(gaps, a.resolution()) {
		s.rect(a.rect(m.Extent, y, fileHeight), "", "fill-opacity", float64(m.Bytes)/float64(m.End-m.Off))
	}
	s.end()
	y += fileHeight + 6
	p.sizes(s, a, all, y)
	y += sizeHeight + 10

	for i, r := range p.Rows {
		size := rowHeight - 3
		s.begin("g")
		s.title(r.Title)
		s.text(stripLeft-8, y+rowHeight-4, size, fitPath(r.Name, size, labelWidth-10), "text-anchor", "end")
		s.rect(Rect{stripLeft, y, stripWidth, rowHeight - 2}, "", "class", "track")
		p.marks(s, a, rows[i], y, rowHeight-2, 1, titled)
		s.end()
		y += rowHeight
	}
	s.text(stripLeft, bottom+30, 12, "Offset in the file. Red: "+about, "class", "dim")
}

// marks writes the marks of a row, with some space behind those that are wide enough. If
// they have no texts of their own, those of a colour make one element.
func (p *Picture) marks(s *svg, a axis, marks []Mark, y, height, space float64, titled bool) {
	type paint struct{ fill, opacity string }
	var paints []paint // in the order in which they are first used
	rects := map[paint][]Rect{}
	s.begin("g", "shape-rendering", "crispEdges")
	for _, m := range marks {
		r := a.rect(m.Extent, y, height)
		switch {
		case r.W > 4:
			r.W -= space
		case r.W < 1:
			r.W = 1
		}
		cover := float64(m.Bytes) / float64(m.End-m.Off)
		c := paint{clusterColour(m.Cluster, p.Clusters).String(), number(max(0.3, math.Ceil(10*cover)/10))}
		if titled {
			s.rect(r, p.Hover(m), "fill", c.fill, "fill-opacity", c.opacity)
			continue
		}
		if rects[c] == nil {
			paints = append(paints, c)
		}
		rects[c] = append(rects[c], r)
	}
	for _, c := range paints {
		s.path(rects[c], "fill", c.fill, "fill-opacity", c.opacity)
	}
	s.end()
}

// sizes draws the range of the sizes of the pages, on a logarithmic scale.
func (p *Picture) sizes(s *svg, a axis, all []Extent, y float64) {
	pages := slices.DeleteFunc(slices.Clone(all), func(e Extent) bool { return e.Cluster == Metadata })
	marks := Marks(pages, a.resolution())
	s.rect(Rect{stripLeft, y, stripWidth, sizeHeight}, "", "class", "track")
	s.text(stripLeft-56, y+sizeHeight/2+4, 12, "sizes of pages", "text-anchor", "end", "font-weight", "bold")
	if len(marks) == 0 {
		return
	}
	least, largest := marks[0].Least, marks[0].Largest
	for _, m := range marks {
		least, largest = min(least, m.Least), max(largest, m.Largest)
	}
	low, high := 1, 6 // powers of ten: from 10 B to 1 MB, so that pictures can be compared
	low = min(low, int(math.Floor(math.Log10(float64(least)))))
	high = max(high, int(math.Ceil(math.Log10(float64(largest)))))
	at := func(bytes float64) float64 {
		return y + sizeHeight*(1-(math.Log10(bytes)-float64(low))/float64(high-low))
	}
	for i := low; i <= high; i++ {
		line := at(math.Pow10(i))
		if i > low && i < high {
			s.rect(Rect{stripLeft, line - 0.25, stripWidth, 0.5}, "", "class", "axis")
		}
		if i%3 == 0 && i > 0 {
			s.text(stripLeft-8, line+4, 10, p.Size(int64(math.Pow10(i))), "text-anchor", "end", "class", "dim")
		}
	}
	var rects []Rect
	for _, m := range marks {
		r := a.rect(m.Extent, 0, 0)
		r.Y = at(float64(m.Largest))
		r.W, r.H = max(r.W, 0.8), max(at(float64(m.Least))-r.Y, 2)
		r.Y = min(r.Y, y+sizeHeight-r.H)
		rects = append(rects, r)
	}
	s.path(rects, "class", "sizes")
}

func (p *Picture) clusterLegend(s *svg, top float64) {
	if p.Clusters == 0 {
		return
	}
	n := min(p.Clusters, 60)
	left := pageWidth - margin - 200
	last := strconv.Itoa(p.Clusters - 1)
	s.text(left-8, top+10, 12, "Colour: cluster 0", "text-anchor", "end")
	right := left + 200 - width(last, 12, 100) - 8
	if n == 1 {
		right = left + 12
	}
	for i := range n {
		w := (right - left) / float64(n)
		s.rect(Rect{left + w*float64(i), top, w, 12}, "", "fill",
			clusterColour(i*(p.Clusters-1)/max(n-1, 1), p.Clusters).String(), "shape-rendering", "crispEdges")
	}
	if n > 1 {
		s.text(right+8, top+10, 12, last)
	}
}

// An axis has the offsets in the file from left to right.
type axis struct{ from, to int64 }

// resolution returns the bytes that a pixel stands for.
func (a axis) resolution() int64 { return max(1, int64(float64(a.to-a.from)/stripWidth)) }

func (a axis) x(off int64) float64 {
	return stripLeft + stripWidth*float64(off-a.from)/float64(a.to-a.from)
}

func (a axis) rect(e Extent, y, height float64) Rect {
	x := a.x(e.Off)
	return Rect{x, y, a.x(e.End) - x, height}
}

// ticks draws the axis above the rows and below.
func (p *Picture) ticks(s *svg, a axis, top, bottom float64) {
	step := 1.0
	for i := 0; float64(a.to-a.from)/step > 10; i++ {
		step *= []float64{2, 2.5, 2}[i%3]
	}
	each := int64(step)
	for off := (a.from + each - 1) / each * each; off <= a.to; off += each {
		x := a.x(off)
		s.rect(Rect{x, top - 4, 0.5, bottom - top + 6}, "", "class", "axis")
		anchor := "middle"
		if x > pageWidth-margin-30 {
			anchor = "end"
		}
		s.text(x, bottom+13, 10, p.Size(off), "text-anchor", anchor, "class", "dim")
	}
}
