package histogram

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/terminal"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/text"
	"github.com/go-rntuple/go-rntuple/internal/show/draw"
	"github.com/go-rntuple/go-rntuple/schema"
)

// screenOf returns what pictures of characters are drawn for: the terminal that a stream is, or 80
// columns.
func screenOf(stdout io.Writer) draw.Terminal {
	s := draw.Terminal{Width: 80, Height: 18, ASCII: !speaksUTF8()}
	if !terminal.Is(stdout) {
		return s
	}
	s.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if width, height := terminal.Size(stdout); width > 0 && height > 0 {
		// The picture is about as high as it is wide, and leaves room for what is below it.
		s.Width, s.Height = width, max(5, min(width*2/9, 36, height-8))
	}
	return s
}

// speaksUTF8 reports whether the locale is of UTF-8, or not set.
func speaksUTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(os.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// titles sets the titles of the axes: the expressions, with the descriptions of fields.
func (q *query) titles(histograms []*draw.Histogram, s *schema.Schema) {
	of := func(axis func(draw.Curve) int) string {
		var all []string
		for _, c := range q.plan.Curves {
			if name := q.plan.Names[axis(c)]; !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
		if len(all) == 1 {
			if fields, err := s.Lookup(all[0]); err == nil {
				if text := fields[len(fields)-1].Description; text != "" && text != all[0] {
					return schema.Printable(all[0] + ": " + strings.Join(strings.Fields(text), " "))
				}
			}
		}
		return schema.Printable(strings.Join(all, ", "))
	}
	h := histograms[0]
	h.X.Title = of(func(c draw.Curve) int { return c.X })
	if h.Y != nil {
		h.Y.Title = of(func(c draw.Curve) int { return c.Y })
	}
}

// picture returns the picture of histograms, with their table.
func (q *query) picture(histograms []*draw.Histogram, d *drawing) *draw.Picture {
	p := &draw.Picture{Histograms: histograms, YTitle: "entries"}
	h := histograms[0]
	if q.weight >= 0 {
		p.YTitle = "sum of weights"
	}
	switch {
	case h.Profile:
		var means []string
		for _, c := range q.plan.Curves {
			if name := "mean of " + q.plan.Names[c.Y]; !slices.Contains(means, name) {
				means = append(means, name)
			}
		}
		p.YTitle = schema.Printable(strings.Join(means, ", "))
		p.Log = strings.Contains(q.logs, "y")
	case h.Y != nil:
		p.Log = strings.Contains(q.logs, "z")
	default:
		p.Log = strings.Contains(q.logs, "y")
		if h.X.Words == nil && !h.X.Log {
			if width := (h.X.High() - h.X.Low()) / float64(h.X.Bins()); width != 1 {
				p.YTitle += " / " + draw.Number(width, 6)
			}
		}
	}
	p.Heads, p.Rows = q.statistics(histograms)
	return p
}

// statistics returns the table of the entries of histograms, their mean and so on.
func (q *query) statistics(histograms []*draw.Histogram) (heads []string, rows [][]string) {
	h := histograms[0]
	heads = []string{"ENTRIES"}
	words := q.plan.IsWords()
	switch {
	case words:
		heads = append(heads, "OTHERS")
	case h.Y != nil:
		heads = append(heads, "MEAN X", "MEAN Y", "STD DEV X", "STD DEV Y", "INSIDE", "OUTSIDE")
	case h.Profile:
		heads = append(heads, "MEAN X", "MEAN Y", "STD DEV X", "STD DEV Y", "UNDERFLOW", "OVERFLOW")
	default:
		heads = append(heads, "MEAN", "STD DEV", "UNDERFLOW", "OVERFLOW")
	}
	sum := q.weight >= 0 && h.Y == nil
	var nan, missing int64
	for _, h := range histograms {
		nan, missing = nan+h.NaN, missing+h.Missing
	}
	for _, add := range []struct {
		head string
		when bool
	}{{"SUM", sum}, {"NAN", nan > 0}, {"MISSING", missing > 0}} {
		if add.when {
			heads = append(heads, add.head)
		}
	}
	for _, h := range histograms {
		row := []string{text.Count(h.Entries)}
		under, over := h.At(0, 0).W, 0.0
		if h.Y == nil {
			over = h.At(h.X.Bins()+1, 0).W
		}
		switch {
		case words:
			row = append(row, amount(over))
		case h.Y != nil:
			inside, outside := h.Sums()
			row = append(row, number(h.MeanX()), number(h.MeanY()), number(h.StdDevX()), number(h.StdDevY()),
				amount(inside), amount(outside))
		case h.Profile:
			row = append(row, number(h.MeanX()), number(h.MeanY()), number(h.StdDevX()), number(h.StdDevY()),
				amount(under), amount(over))
		default:
			row = append(row, number(h.MeanX()), number(h.StdDevX()), amount(under), amount(over))
		}
		if sum {
			row = append(row, amount(h.Inside()))
		}
		if nan > 0 {
			row = append(row, text.Count(h.NaN))
		}
		if missing > 0 {
			row = append(row, text.Count(h.Missing))
		}
		rows = append(rows, append(row, schema.Printable(h.Label)))
	}
	return append(heads, ""), rows
}

// number returns a mean or a deviation; "-" if there is none.
func number(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return draw.Number(v, 5)
}

// amount returns a sum of weights, with its digits in groups if it is a whole number.
func amount(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return text.Count(int64(v))
	}
	return fmt.Sprintf("%.6g", v)
}
