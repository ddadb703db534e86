package draw

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sums are what a histogram has been filled with, as JSON.
type sums struct {
	Label   string         `json:"label"`
	X       floats         `json:"x"` // edges
	Y       floats         `json:"y,omitempty"`
	Profile bool           `json:"profile,omitempty"`
	Bins    map[int]floats `json:"bins"` // that are not empty, by index in Histogram.Bins: N, W, W2, WY, WY2
	Entries int64          `json:"entries"`
	NaN     int64          `json:"nan"`
	Missing int64          `json:"missing"`
	Inside  floats         `json:"inside"` // moments: w, x, xx, y, yy
}

// floats are written as a text that keeps all bits, and infinities, which JSON has no numbers for.
type floats []float64

func (f floats) MarshalText() (b []byte, err error) {
	for _, x := range f {
		b = append(strconv.AppendFloat(b, x, 'g', -1, 64), ' ')
	}
	return b, nil
}

func (f *floats) UnmarshalText(b []byte) error {
	for word := range strings.FieldsSeq(string(b)) {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return err
		}
		*f = append(*f, x)
	}
	return nil
}

// Save returns histograms as JSON, for Load.
func Save(all []*Histogram) ([]byte, error) {
	var saved []sums
	for _, h := range all {
		m := h.inside
		s := sums{h.Label, h.X.Edges, nil, h.Profile, map[int]floats{}, h.Entries, h.NaN, h.Missing,
			floats{m.w, m.x, m.xx, m.y, m.yy}}
		if h.Y != nil {
			s.Y = h.Y.Edges
		}
		for i, b := range h.Bins {
			if b.N > 0 {
				s.Bins[i] = floats{float64(b.N), b.W, b.W2, b.WY, b.WY2}
			}
		}
		saved = append(saved, s)
	}
	return json.Marshal(saved)
}

// Fixed reports whether the axes do not depend on the values.
func (p *Plan) Fixed() bool {
	return p.X.Range.known() && (p.Curves[0].Y < 0 || p.Profile || p.Y.Range.known()) && !p.IsWords()
}

// Load adds up what Save has returned for parts of the entries, in their order. The plan must be
// that of the parts, and Fixed.
func (p *Plan) Load(parts [][]byte) ([]*Histogram, error) {
	if !p.Fixed() {
		return nil, errors.New("the range is not known")
	}
	fresh, err := p.axes(nil)
	if err != nil {
		return nil, err
	}
	total := fresh()
	for n, part := range parts {
		var saved []sums
		if err := json.Unmarshal(part, &saved); err != nil {
			return nil, fmt.Errorf("part %d: %w", n, err)
		}
		if len(saved) != len(total) {
			return nil, fmt.Errorf("part %d has %d histograms, not %d", n, len(saved), len(total))
		}
		for i, s := range saved {
			h, err := s.like(total[i])
			if err != nil {
				return nil, fmt.Errorf("part %d: histogram %q: %w", n, s.Label, err)
			}
			total[i].add(h)
		}
	}
	return total, nil
}

// like returns the histogram with the axes of another one.
func (s *sums) like(of *Histogram) (*Histogram, error) {
	h := NewHistogram(of.X, of.Y, of.Profile)
	var y floats
	if h.Y != nil {
		y = h.Y.Edges
	}
	if s.Label != of.Label || s.Profile != h.Profile || !slices.Equal(s.X, h.X.Edges) || !slices.Equal(s.Y, y) {
		return nil, errors.New("it has other axes or another label")
	}
	for i, b := range s.Bins {
		if i < 0 || i >= len(h.Bins) || len(b) != 5 {
			return nil, fmt.Errorf("bin %d of %d has %d numbers, not 5", i, len(h.Bins), len(b))
		}
		h.Bins[i] = Bin{int64(b[0]), b[1], b[2], b[3], b[4]}
	}
	m := s.Inside
	if len(m) != 5 {
		return nil, fmt.Errorf("there are %d moments, not 5", len(m))
	}
	h.inside = moments{m[0], m[1], m[2], m[3], m[4]}
	h.Entries, h.NaN, h.Missing = s.Entries, s.NaN, s.Missing
	return h, nil
}
