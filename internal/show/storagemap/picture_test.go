package storagemap

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// parse checks that a picture is well formed, shows nothing outside of it, and consists
// of elements and attributes that can do no harm. It returns the texts, and the number of
// elements by name.
func parse(t *testing.T, svg []byte) (texts []string, elements map[string]int) {
	t.Helper()
	names := []string{"svg", "title", "style", "defs", "linearGradient", "stop", "rect", "path", "text", "g"}
	attributes := []string{"xmlns", "width", "height", "viewBox", "role", "id", "offset", "stop-color",
		"class", "x", "y", "font-size",
		"font-weight", "fill", "fill-opacity", "d", "stroke-width", "text-anchor", "transform", "shape-rendering"}
	elements = map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(svg))
	wide, high := 0.0, 0.0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			elements[token.Name.Local]++
			if !slices.Contains(names, token.Name.Local) || token.Name.Space != "http://www.w3.org/2000/svg" {
				t.Fatalf("element %v", token.Name)
			}
			at := map[string]float64{}
			for _, a := range token.Attr {
				if !slices.Contains(attributes, a.Name.Local) {
					t.Fatalf("attribute %s of %s", a.Name.Local, token.Name.Local)
				}
				if v, err := strconv.ParseFloat(a.Value, 64); err == nil {
					at[a.Name.Local] = v
				}
			}
			if wide == 0 {
				wide, high = at["width"], at["height"]
			}
			if at["x"] < 0 || at["y"] < 0 || at["width"] < 0 || at["height"] < 0 || at["x"]+at["width"] > wide+1 ||
				at["y"]+at["height"] > high+1 {
				t.Fatalf("%s at %v", token.Name.Local, at)
			}
		case xml.CharData:
			texts = append(texts, string(token))
		}
	}
	if elements["svg"] != 1 || elements["style"] != 1 {
		t.Errorf("%v", elements)
	}
	return texts, elements
}

func (p *Picture) complete() *Picture {
	p.Size = func(n int64) string { return fmt.Sprintf("%d B", n) }
	p.Hover = func(m Mark) string { return fmt.Sprintf("mark of %d at %d", m.Pages, m.Off) }
	if p.Storage == nil {
		p.Storage = new(Node)
	}
	p.Storage.Sum()
	return p
}

func write(t *testing.T, p *Picture) []byte {
	t.Helper()
	var b, again bytes.Buffer
	if err := errors.Join(p.Write(&b), p.Write(&again)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("two pictures of the same differ")
	}
	return b.Bytes()
}

// Names come from files, and may hold anything.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{"</title><script>alert(1)</script>", `"><g onload="x"/>`, "]]>&amp;<!--",
		"a\x00b\x1b[2J\xff", "\u202e.\ufffe", "", ".", "..", "_0._0",
		strings.Repeat("long", 5000), strings.Repeat("a.", 5000), "日本語"} {
		p := (&Picture{
			Title: name, Subtitle: name, Note: name, Clusters: 1,
			Storage: &Node{Name: name, Title: name, Lines: []string{name},
				Children: []*Node{{Name: name, Title: name, Lines: []string{name}, Size: 1, Ratio: 3}}},
			All:  []Extent{{0, 10, 0}},
			Rows: []Row{{Name: name, Title: name, Extents: []Extent{{0, 10, 0}}}},
		}).complete()
		if texts, _ := parse(t, write(t, p)); strings.Contains(name, "<") && !slices.Contains(texts, name) {
			t.Errorf("%q is not in the picture", name)
		}
	}
}

func TestEmpty(t *testing.T) {
	texts, elements := parse(t, write(t, new(Picture).complete()))
	for _, want := range []string{"nothing is on disk", "There are no pages in the file."} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if elements["rect"] > 5 {
		t.Errorf("%v", elements)
	}
}

// A picture has a rectangle for each column and each page, and their texts, while there
// are few; of very many its size is limited.
func TestSizeOfPicture(t *testing.T) {
	picture := func(columns, pages int) *Picture {
		p := &Picture{Clusters: pages, Storage: new(Node)}
		for c := range columns {
			p.Storage.Children = append(p.Storage.Children,
				&Node{Name: "column", Title: fmt.Sprint("column ", c), Size: int64(100 * pages), Ratio: 1})
		}
		p.Rows = make([]Row, min(columns, MaxRows))
		for i := range pages {
			for c := range columns {
				off := int64(i*columns+c) * 100
				e := Extent{off, off + 100, i}
				p.All = append(p.All, e)
				p.Rows[c%MaxRows].Extents = append(p.Rows[c%MaxRows].Extents, e)
			}
		}
		return p.complete()
	}
	texts, elements := parse(t, write(t, picture(10, 30)))
	for _, want := range []string{"column 0", "column 9", "mark of 1 at 29900"} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := elements["rect"]; n < 10+300+300 {
		t.Errorf("only %d rectangles", n)
	}
	for _, c := range []struct{ columns, pages int }{{3, 300_000}, {2000, 200}, {300_000, 1}} {
		svg := write(t, picture(c.columns, c.pages))
		parse(t, svg)
		if len(svg) > 8e6 {
			t.Errorf("%d columns with %d pages: %d bytes", c.columns, c.pages, len(svg))
		}
	}
}

// The first error of the writer is returned.
func TestWriteError(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	if err := new(Picture).complete().Write(w); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}
