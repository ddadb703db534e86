package cli

import "testing"

func TestByteCount(t *testing.T) {
	for text, want := range map[string]Bytes{
		"1": 1, "1000000": 1e6, "3k": 3 << 10, "512M": 512 << 20, "2G": 2 << 30, "2g": 2 << 30, "8388607T": 8388607 << 40,
		"": 0, "0": 0, "-1": 0, "G": 0, "1.5G": 0, "2GB": 0, "8388608T": 0, "9223372036854775808": 0,
	} {
		var b Bytes
		if err := b.Set(text); b != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d, %v; want %d", text, b, err, want)
		}
	}
}
