package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A bar is a progress bar, or nothing where it would be in the way.
type bar struct {
	b     *progressbar.ProgressBar
	begin time.Time
}

// patience is how long work may take without a bar.
const patience = 300 * time.Millisecond

// progress returns a bar for work of that many units, -1 if that is not known, if
// standard error is a terminal. It shows up when the work takes noticeably long.
func (t *tool) progress(unit string, total int64) bar {
	if !isTerminal(t.stderr) || total == 0 || total == 1 {
		return bar{}
	}
	return bar{begin: time.Now(), b: progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(t.stderr),
		progressbar.OptionSetDescription(unit),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)}
}

func (b bar) set(done int64) {
	if b.b != nil && time.Since(b.begin) > patience {
		_ = b.b.Set64(done) // a bar that cannot be drawn is no reason to stop
	}
}

func (b bar) done() {
	if b.b != nil && time.Since(b.begin) > patience {
		_ = b.b.Clear()
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
