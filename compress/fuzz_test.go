package compress

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"testing"

	"github.com/ulikunitz/xz"
)

// rootVectors are made by ROOT 6.40.00, one call each of
// R__zipMultipleAlgorithm(level, &n, text, &m, out, &irep, algorithm) on
// rootText, except for 2009: that is Python's lzma.compress(text, preset=9),
// which has a CRC-64 and a dictionary of 64 MiB, with the header uproot writes.
var rootVectors = map[int]string{
	101:  "WkwIyAAAvwIAeAFF0kESwyAIBdCreIAuAijq9DzZZpFpe/52yuez5A/qg+T8nNerHY92v692PNv5ryVqyVqj7llb1Dvrjn7PYESgIwOPwNgxI+i8Y0XgfGRHsKgQMC0vFTiVZySlkz2wTmUCbQXQWr0ErlcPvJsTCcBWHIgn96gQC+9RkAdPKcibq1GQO8dSkDeFCnOve2DedQrmUR6YV+5CQXaOZSArN2ggL54ykAefMpCVgxrIix/YQHYOYflX1OsgS/UkmeuxNP+SL0T4y7Y=",
	209:  "WFoA6AAAvwIA/Td6WFoAAAFpIt42AgAhAQAAAAA3J5fW4AK+AKxdADKdiM6RG98Gn36jJZzxbBCD4TOuN2j4VOlW+4kodBJA/H0UwbxMc6qgt2C3zU+ovNO4hlYJ90p51n1LiMlsOvEx32joj3KnktyI3pWdpozohobds1RJ34XKNNqHyT/uKO1E6iSN+oAjKaR1HHcr1NEV5Q40fhOcIbOA3RSzXnZdxqLBGhCWymijrVaHAFo4Azd9Mbrd76Zu97Vw3HiVq56aza+Ot6qd8aqY9OAAfMwcUwABxAG/BQAA6D2WNz4wDYsCAAAAAAFZWg==",
	2009: "WFoA7AAAvwIA/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4AK+AKxdADKdiM6RG98Gn36jJZzxbBCD4TOuN2j4VOlW+4kodBJA/H0UwbxMc6qgt2C3zU+ovNO4hlYJ90p51n1LiMlsOvEx32joj3KnktyI3pWdpozohobds1RJ34XKNNqHyT/uKO1E6iSN+oAjKaR1HHcr1NEV5Q40fhOcIbOA3RSzXnZdxqLBGhCWymijrVaHAFo4Azd9Mbrd76Zu97Vw3HiVq56aza+Ot6qd8aqY9OAALPQovffwvssAAcgBvwUAAJP9VECxxGf7AgAAAAAEWVo=",
	309:  "Q1MIvwAAvwIARdI5EgIxDETRq/gABGNpvBXnmZSAAs4Phb9aobq8PMm+PtfjVY5beb4f5biX61/XXdeobddn1L7rFfXJ+h5B24G1CPoOXCsGR+qMuYOuS9YOphQVpivAadpTQzqUYB2mBG0GaD1vgttzDd6ljipgTw7ioTka4qpzDHLTLoO8NBqDfKotg7zyRTCfeQ7mlbswt/Rgngogd7XlkE0TdMhTuxxyyw8B2dSoQ556YIfc1YTHr8jbIddcE2SNx8P8S74=",
	404:  "TDQBUAEAvwIAt8DEVBwj4SzyAWV2ZW50IDAsIHJ1biAwOyAQABIxEAAUMRAAEjIQABQ0EAASMxAAFDkQABI0EAAkMTYRABI1EQAkMjURABI2EQAVMyIAEjcRABU0RAASOBEAFTZlABI5EQAVOIYAEzGnABQzVQATMagAFTI0ABQxqgAVNyQAA6wAJTcyEgADrgAGEQADrgAWM2oAA68AFjYkAAOwABU50gATMbEAFjOPAAOyABU3SAETMrIAFTFIABMyswAVNTYAEzKzABU5GwETMrMAFTTXABMyswAVOaIAEzK0ABY0SAADtAAkOTTpABMytAAWNZAAA7QAFTgjAAOzABU21wATM7MAFTJCARMzswAVODYAEzOzABU1awATM7MAFTLpABMzswAVOOEBEzOzABU2xQATM7MAFjN+AAOzABYxJAAEswAFHwHAMzksIHJ1biA2Njsg",
	505:  "WlMBngAAvwIAKLUv/WC/AaUEAMKHExKwJW2sUIYkrk/k5pYpfYAdjgdj+I0s3zz5bNzaQ7UZXRX/zIRqbuLM+FcTW0qlzja6+k3TcrEm7eZ2U/epdM55So5BRiEADEFGoCAGRE6oMZS+fwaw4+QQdIQ9t2H4LvB0ZgKbgGpaDYhdMejC8Jem05iEc2CtzTQiCmq1W8ku0a6eoJK38BeGkbIX5cFgWwU=",
}

func rootText() []byte {
	var b []byte
	for i := range 40 {
		b = fmt.Appendf(b, "event %d, run %d; ", i, i*i%97)
	}
	return b
}

func TestROOTVectors(t *testing.T) {
	want := rootText()
	for s, text := range rootVectors {
		src, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := try(t, src, len(want)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d: %v, equal %v", s, err, bytes.Equal(got, want))
		}
	}
}

// FuzzDecompress gives Decompress any input. Decoding twice must give the same
// result, and that of LZMA must agree with the xz module.
func FuzzDecompress(f *testing.F) {
	for _, text := range rootVectors {
		src, _ := base64.StdEncoding.DecodeString(text)
		f.Add(src, uint32(len(rootText())))
		two := append(bytes.Clone(src), src...)
		f.Add(two, uint32(2*len(rootText())))
	}
	for _, s := range []Settings{101, 205, 301, 401, 501} {
		src, _ := Append(nil, sample(3000), s)
		f.Add(src, uint32(3000))
	}
	f.Fuzz(func(t *testing.T, src []byte, n uint32) {
		n %= 1 << 18 // an honest n may be large; here it is only slow
		dst, err := try(t, src, int(n))
		if err != nil {
			return
		}
		if again, err := try(t, src, int(n)); err != nil || !bytes.Equal(again, dst) {
			t.Fatalf("second time %v", err)
		}
		if len(src) == int(n) || string(src[:3]) != "XZ\x00" || uint24(src[6:]) != int(n) {
			return
		}
		r, err := xz.NewReader(bytes.NewReader(src[headerSize:]))
		if err != nil {
			t.Fatalf("xz module: %v", err)
		}
		if want, err := io.ReadAll(r); err != nil || !bytes.Equal(want, dst) {
			t.Fatalf("xz module: %v, %d bytes", err, len(want))
		}
	})
}

// FuzzRoundTrip compresses anything with any settings.
func FuzzRoundTrip(f *testing.F) {
	for a := Inherit; a <= Zstd; a++ {
		f.Add(rootText(), uint16(a)*100+1, uint16(1))
		f.Add(sample(100), uint16(a)*100+9, uint16(30))
	}
	f.Fuzz(func(t *testing.T, src []byte, s, repeat uint16) {
		s %= 600
		if n := int(repeat % 64); len(src)*n < 1<<18 {
			src = bytes.Repeat(src, n)
		}
		roundTrip(t, src, Settings(s))
	})
}

func BenchmarkDecompress(b *testing.B) {
	src := sample(1 << 20)
	for _, c := range codecs {
		b.Run(c.name, func(b *testing.B) {
			out, err := Append(nil, src, Settings(int(c.algorithm)*100+1))
			if err != nil {
				b.Fatal(err)
			}
			dst := make([]byte, len(src))
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Decompress(dst, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	src := sample(1 << 20)
	dst := make([]byte, 0, 2<<20)
	for _, s := range []Settings{101, 106, 207, 401, 404, 501, 503, 505} {
		b.Run(s.String(), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Append(dst, src, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
