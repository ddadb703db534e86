package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/terminal"
)

// A Bar is a progress bar on standard error. It appears when the work takes
// noticeably long, and draws nothing where it would be in the way: if standard
// error is not a terminal, and with --quiet.
type Bar struct {
	report *Reporter
	unit   string // empty: bytes
	b      *progressbar.ProgressBar
	begin  time.Time
}

// patience is the time after which a bar appears.
const patience = 300 * time.Millisecond

// Bar returns a bar for work that is counted in a unit: "entries".
func (r *Reporter) Bar(unit string) *Bar { return &Bar{report: r, unit: unit, begin: time.Now()} }

// ByteBar returns a bar for work that is counted in bytes. It shows them in
// megabytes or the like, and how many are done in a second.
func (r *Reporter) ByteBar() *Bar { return r.Bar("") }

// Set shows how much is done of a total, which is -1 if it is not known.
func (b *Bar) Set(done, total int64) {
	if b.report.Quiet || total == 0 || total == 1 || time.Since(b.begin) < patience || !terminal.Is(b.report.w) {
		return
	}
	if b.b == nil {
		b.b = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(b.report.w),
			progressbar.OptionSetDescription(b.unit),
			progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(),
			progressbar.OptionShowBytes(b.unit == ""),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(),
		)
	}
	_ = b.b.Set64(done) // a bar that cannot be drawn is no reason to stop
}

// Done removes the bar from the terminal.
func (b *Bar) Done() {
	if b.b != nil {
		_ = b.b.Clear()
	}
}
