package storagemap

import (
	"fmt"
	"math"
)

// A colour has red, green and blue from 0 to 1.
type colour [3]float64

func hex(n uint32) colour {
	return colour{float64(n>>16) / 255, float64(n>>8&255) / 255, float64(n&255) / 255}
}

func (c colour) String() string {
	n := [3]int{}
	for i, v := range c {
		n[i] = int(math.Round(255 * v))
	}
	return fmt.Sprintf("#%02x%02x%02x", n[0], n[1], n[2])
}

// isDark reports whether white can be read better on c than black.
func (c colour) isDark() bool { return 0.299*c[0]+0.587*c[1]+0.114*c[2] < 0.5 }

// A ramp is a sequence of colours at equal distances.
type ramp []colour

// at returns the colour at t, from 0 to 1.
func (r ramp) at(t float64) colour {
	t = min(max(t, 0), 1) * float64(len(r)-1)
	i := min(int(t), len(r)-2)
	var c colour
	for k := range c {
		c[k] = r[i][k] + (t-float64(i))*(r[i+1][k]-r[i][k])
	}
	return c
}

var (
	// ratios is the ramp viridis, which people with any sight tell apart.
	ratios = ramp{hex(0x440154), hex(0x472d7b), hex(0x3b528b), hex(0x2c728e), hex(0x21918c), hex(0x28ae80), hex(0x5ec962),
		hex(0xaddc30), hex(0xfde725)}

	// clusters leaves out red, which marks gaps.
	clusters = ramp{hex(0x3f6fd8), hex(0x22a5c0), hex(0x3fae5a), hex(0xc9a91b), hex(0xe08a3c), hex(0xb765c4)}

	gapColour = hex(0xd7191c)
	greyFill  = hex(0x8a8f98) // of metadata
)

// maxDoublings is the end of the scale of ratios: 2 to its power.
const maxDoublings = 5

func ratioColour(ratio float64) colour {
	if !(ratio > 0) {
		return greyFill
	}
	return ratios.at(math.Log2(ratio) / maxDoublings)
}

// clusterColour returns the colour of the i-th of n clusters: neighbours differ in
// brightness, and those far apart in hue.
func clusterColour(i, n int) colour {
	if i == Metadata {
		return greyFill
	}
	c := clusters.at(float64(i) / float64(max(n-1, 1)))
	if i%2 == 1 {
		for k := range c {
			c[k] *= 0.72
		}
	}
	return c
}
