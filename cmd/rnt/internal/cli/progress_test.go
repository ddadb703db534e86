package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/terminal"
)

// Where there is a terminal, a bar shows megabytes and how many there are in a
// second; not with --quiet.
func TestProgress(t *testing.T) {
	defer terminal.Pretend(80, 25)()
	for _, quiet := range []bool{false, true} {
		var stderr strings.Builder
		b := (&Reporter{w: &stderr, Quiet: quiet}).ByteBar()
		b.begin = time.Now().Add(-time.Second)
		b.Set(25e6, 100e6)
		time.Sleep(150 * time.Millisecond) // bars are not drawn more often than each tenth of a second
		b.Set(50e6, 100e6)
		b.Done()
		if shown := strings.Contains(stderr.String(), "50/100 MB") &&
			strings.Contains(stderr.String(), "B/s"); shown == quiet {
			t.Errorf("quiet: %v: %q", quiet, stderr.String())
		}
	}
}
