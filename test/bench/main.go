package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	scratch := os.TempDir()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		scratch = "/dev/shm"
	}
	quick := flag.Bool("quick", false, "small data, to see that everything works")
	scaling := flag.Bool("scaling", false, "measure how time grows with bytes, fields and clusters instead of the table")
	merging := flag.Bool("merge", false, "measure merging instead of the table; with -quick this comes after it anyway")
	dask := flag.Bool("dask", false, "measure jobs that make a histogram, beside ROOT on Dask, instead of the table")
	codecs := flag.Bool("codecs", false, "measure our codecs beside those of libraries instead of the table")
	before := flag.String("before", "", "measure this checkout beside that in the folder `CHECKOUT` instead of the table")
	part := flag.Int("part", 1, "make data with one `N`th of the entries")
	pattern := flag.String("rows", "", "measure only the rows whose names match `REGEXP`")
	threads := flag.Int("threads", 2, "measure with one to `N` threads, 2 at most")
	rounds := flag.Int("rounds", 0, "repeat each work `N` times (default 9; quick: 1)")
	budget := flag.Duration("budget", time.Minute, "repeat it thrice only if a row takes longer")
	dir := flag.String("data", filepath.Join(cache, "go-rntuple", "bench"), "keep programs and data in `DIR`; 3 GB")
	flag.StringVar(&scratch, "scratch", scratch, "write files to `DIR` in benchmarks of writing; 1 GB")
	results := flag.String("results", "", "write results to `DIR`, as text, JSON and a chart")
	flag.Parse()
	if flag.NArg() > 0 || *threads < 1 || *threads > 2 || *part < 1 {
		flag.Usage()
		os.Exit(2)
	}
	wanted, err := regexp.Compile(*pattern)
	if err != nil {
		return err
	}
	limits, sizes := limits{9, *budget}, fullSizes.part(*part)
	if *quick {
		limits.rounds, sizes = 1, quickSizes
	}
	if *rounds > 0 {
		limits.rounds = *rounds
	}

	w, err := newWorkshop(*dir, scratch, sizes)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "building")
	if err := w.build(); err != nil {
		return err
	}
	if *before != "" {
		err = w.buildEarlier(*before)
	} else {
		err = w.buildPeers()
	}
	if err != nil {
		return err
	}
	if *merging {
		return w.merge(limits, *quick, *results)
	}
	if *dask {
		return w.dask(limits, *quick, *results)
	}
	table, name := append(rows(), bridgeRows()...), "table"
	switch {
	case *scaling:
		table, name = w.scalingRows(), "scaling"
	case *before != "":
		table, name = earlierRows(), "before"
	case *codecs:
		if err := w.buildCodecs(); err != nil {
			return err
		}
		table, name = codecRows(), "codecs"
	}
	table = slices.DeleteFunc(table, func(r row) bool { return !wanted.MatchString(r.name) })
	if err := w.prepare(table); err != nil {
		return err
	}
	report := newReport(w, *quick)
	report.Codecs, report.Before = *codecs, *before != ""
	for _, r := range table {
		for n := 1; n <= *threads && r.measuredWith(n); n++ {
			fmt.Fprintf(os.Stderr, "%s, threads: %d\n", r.name, n)
			m, err := w.measure(r, n, limits)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				report.Failures = append(report.Failures, err.Error())
				continue
			}
			if *quick {
				for i := range m.Rivals {
					m.Rivals[i].Goal = 0
				}
			}
			report.Measurements = append(report.Measurements, m)
			for _, t := range m.Rivals {
				fmt.Fprintf(os.Stderr, "\t%s: %.2f, by processor time %.2f\n", t.Name, t.Ratio, t.CPURatio)
			}
		}
	}
	if report.Before {
		if err := w.measureTools(report, wanted.MatchString, *threads, limits); err != nil {
			report.Failures = append(report.Failures, err.Error())
		}
	}
	report.print(os.Stdout)
	if *results != "" {
		if err := report.save(*results, name); err != nil {
			return err
		}
	}
	switch {
	case len(report.Failures) > 0:
		return fmt.Errorf("%d failures", len(report.Failures))
	case len(report.Measurements) == 0:
		return errors.New("nothing was measured")
	}
	if *quick && *pattern == "" && !*codecs && *before == "" {
		return w.merge(limits, *quick, *results)
	}
	return nil
}

// merge measures merging.
func (w *workshop) merge(limits limits, quick bool, results string) error {
	report, err := w.mergeSuite(newReport(w, quick), limits)
	return finish(report, err, results)
}

// dask measures jobs beside ROOT on Dask.
func (w *workshop) dask(limits limits, quick bool, results string) error {
	report, err := w.daskSuite(newReport(w, quick), limits, quick)
	return finish(report, err, results)
}

// finish prints a report, and saves it in the folder results, if there is one.
func finish(report interface {
	print(io.Writer)
	save(dir string) error
}, err error, results string) error {
	if err != nil {
		return err
	}
	report.print(os.Stdout)
	if results == "" {
		return nil
	}
	return report.save(results)
}
