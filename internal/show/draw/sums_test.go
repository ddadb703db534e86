package draw

import (
	"reflect"
	"strings"
	"testing"
)

// TestSaved loads what was saved: each bit is there again, those of infinite sums too, and parts
// add up.
func TestSaved(t *testing.T) {
	r, _ := written(t, randomEvents())
	for _, c := range []struct {
		curve   []string
		profile bool
	}{{[]string{"f"}, false}, {[]string{"v", "", "w", "m"}, false}, {[]string{"f", "i"}, false},
		{[]string{"f", "i"}, true}, {[]string{"o", "", "f / 0.0"}, false}} {
		p := newPlan(t, r, c.curve)
		p.Profile, p.X.Range, p.Y.Range = c.profile, Range{-1, 1.5}, Range{0, 9}
		want, err := p.Fill(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Save(want)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n < 3; n++ {
			got, err := p.Load([][]byte{text, text}[:n])
			if err != nil {
				t.Fatal(err)
			}
			if again, err := Save(got); err != nil || n == 1 && string(again) != string(text) {
				t.Errorf("%q: saved\n%s\nloaded\n%s\n%v", c.curve, text, again, err)
			}
			for i, h := range got {
				if sum := int64(n) * want[i].Entries; h.Entries != sum || h.Missing != int64(n)*want[i].Missing ||
					h.NaN != int64(n)*want[i].NaN {
					t.Errorf("%q: %d entries of %d", c.curve, h.Entries, sum)
				}
				for k := range h.Bins {
					if a, b := h.Bins[k], want[i].Bins[k]; a.N != int64(n)*b.N || a.W != float64(n)*b.W && a.W == a.W {
						t.Errorf("%q: bin %d has %v of %v", c.curve, k, a, b)
					}
				}
				if n == 1 && c.curve[len(c.curve)-1] != "f / 0.0" && !reflect.DeepEqual(h.inside, want[i].inside) {
					t.Errorf("%q: moments %v, want %v", c.curve, h.inside, want[i].inside)
				}
			}
		}
		for old, with := range map[string]string{"[": "", `"label":"`: `"label":"x`, `"x":"-1 `: `"x":"-1.5 `,
			`"inside":"`: `"inside":"1 `, `"1":"`: `"1":"1 `, `"1":`: `"1000000":`, `"-1 `: `"one `} {
			bad := strings.Replace(string(text), old, with, 1)
			if bad == string(text) {
				t.Fatalf("%s has no %s", text, old)
			}
			if _, err := p.Load([][]byte{text, []byte(bad)}); err == nil {
				t.Errorf("%q: loaded with %s", c.curve, with)
			}
		}
		if _, err := p.Load([][]byte{[]byte("[]")}); err == nil {
			t.Errorf("%q: loaded of no histogram", c.curve)
		}
		p.X.Range = Auto
		if _, err := p.Load(nil); err == nil {
			t.Errorf("%q: loaded without a range", c.curve)
		}
	}
}
