package main

import (
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/surgery"
)

// operate runs an operation that makes the file out, with a progress bar, and
// prints its report.
func (t *tool) operate(out string, asJSON bool, do func(progress surgery.Option) (*surgery.Report, error)) error {
	var bar bar
	report, err := do(surgery.Progress(func(done, total int64) {
		if bar.b == nil {
			bar = t.progress("bytes", total)
		}
		bar.set(done)
	}))
	bar.done()
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(t.out, reportOf(report))
	}
	return t.printMerged(filepath.Base(out), report)
}

// compressionOption returns the option for the flag --compression, none if that
// is empty.
func compressionOption(flag string) ([]surgery.Option, error) {
	if flag == "" {
		return nil, nil
	}
	c, err := compress.ParseSettings(flag)
	if err != nil {
		return nil, usageError("--compression: " + err.Error())
	}
	return []surgery.Option{surgery.Compression(c)}, nil
}
