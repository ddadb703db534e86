package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/show/draw/drawtest"
)

// Plots of all pictures are what they should be, and nothing panics.
func TestWrite(t *testing.T) {
	pictures := drawtest.Pictures()
	for i, p := range pictures {
		formats := Formats
		if i%24 > 0 || testing.Short() {
			formats = Formats[1:2] // the others take their time
		}
		for _, format := range formats {
			var b bytes.Buffer
			if err := Write(&b, p, format); err != nil {
				t.Fatal(err)
			}
			checkPlot(t, b.Bytes(), format)
		}
	}
	if err := Write(io.Discard, pictures[0], "gif"); err == nil {
		t.Error("GIF")
	}
}

func checkPlot(t *testing.T, b []byte, format string) {
	t.Helper()
	switch format {
	case "png":
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil || img.Bounds().Dx() != 1600 {
			t.Fatalf("%v, %v", img, err)
		}
	case "svg":
		d := xml.NewDecoder(bytes.NewReader(b))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if bytes.Contains(b, []byte("NaN")) || bytes.Contains(b, []byte("Inf")) {
			t.Error("a coordinate is not a number")
		}
	case "pdf":
		if !bytes.HasPrefix(b, []byte("%PDF-")) {
			t.Errorf("%.20q", b)
		}
	}
}
