package main

import (
	"context"
	_ "embed"
	"flag"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"
)

// targets are the packages that values pass through.
var targets = []target{
	{"column", "", []string{"rntuple", "rntuple/surgery"}},
	{"internal/bits", "purego", []string{"internal/bits", "column", "rntuple"}}, // the plain Go in the place of assembly
	{"internal/convert", "", []string{"column", "rntuple"}},
	{"internal/field", "", []string{"rntuple", "rntuple/surgery"}},
	{"rntuple/columnar", "", []string{"internal/field", "rntuple"}},
	{"internal/pagesource", "", []string{"rntuple", "rntuple/surgery"}},
	{"internal/pagesink", "", []string{"rntuple", "rntuple/surgery"}},
	{"internal/pagecopy", "", []string{"rntuple/surgery"}},
	{"internal/ntuple", "", []string{"rntuple"}},
	{"internal/rootfile", "", []string{"internal/ntuple", "rntuple"}},
	{"rntuple/surgery", "", []string{"rntuple/zonemap"}},
}

//go:embed equivalent.txt
var equivalents string

func main() {
	log.SetFlags(0)
	log.SetPrefix("mutants: ")
	r := runner{targets: targets, equivalents: equivalents, together: 15, grace: 30 * time.Second, out: os.Stdout}
	flag.IntVar(&r.n, "n", 300, "how many `mutants` to make")
	flag.Uint64Var(&r.seed, "seed", rand.Uint64(), "what to draw them by (default random)")
	flag.IntVar(&r.workers, "workers", 2, "how many to test at a time")
	flag.BoolVar(&r.verbose, "v", false, "print those that are killed, too")
	only := flag.String("package", "", "make them of one `package` only, by its folder")
	own := flag.Bool("own", false, "run the tests of the package itself only, which is much faster")
	flag.StringVar(&r.cache, "cache", "", "keep what is compiled without mutants in a `folder`, for later runs,\n"+
		"on the file system of temporary files (default: none)")
	match := flag.String("match", "", "draw from those only that a regular `expression` matches as they are printed")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("want the folder of a checkout")
	}
	var err error
	if r.root, err = filepath.Abs(flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
	if r.cache != "" {
		if r.cache, err = filepath.Abs(r.cache); err != nil {
			log.Fatal(err)
		}
	}
	if *only != "" {
		r.targets = slices.DeleteFunc(r.targets, func(t target) bool { return t.name != *only })
		if len(r.targets) == 0 {
			log.Fatalf("there is no package %s in the table", *only)
		}
	}
	if *own {
		for i := range r.targets {
			r.targets[i].above = nil
		}
	}
	if *match != "" {
		if r.match, err = regexp.Compile(*match); err != nil {
			log.Fatal(err)
		}
	}
	log.Printf("-seed %d", r.seed)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := r.run(ctx); err != nil {
		log.Fatal(err)
	}
	if slices.ContainsFunc(r.results, func(res result) bool { return res.fate == survived }) {
		os.Exit(1)
	}
}
