package draw_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-rntuple/go-rntuple/internal/show/draw"
	"github.com/go-rntuple/go-rntuple/internal/show/draw/drawtest"
)

// Whatever is drawn, at whatever size: no line is too wide, and nothing panics.
func TestPictures(t *testing.T) {
	for i, p := range drawtest.Pictures() {
		for _, term := range []draw.Terminal{{Width: 80, Height: 18}, {Width: 10, Height: 1},
			{Width: 237, Height: 40, ASCII: true}} {
			var b strings.Builder
			if err := p.WriteText(&b, term); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(b.String(), "\n")
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > max(term.Width, 20) {
					t.Errorf("picture %d, %+v: %d characters in %q", i, term, n, line)
				}
				if term.ASCII && !strings.Contains(line, "ö") &&
					strings.Trim(line, " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") != "" {
					t.Errorf("picture %d: %q is not ASCII", i, line)
				}
			}
			if len(lines) > 2*term.Height+10 {
				t.Errorf("picture %d, %+v: %d lines", i, term, len(lines))
			}
		}
	}
}
