package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"
)

// A target is a package to mutate, by its folder, with the build tags of its own tests, and
// the packages whose tests, without tags, run if its own ones pass: first those that build
// and run soonest.
type target struct {
	name, tags string
	above      []string
}

// A fate is what becomes of a mutant.
type fate int

const (
	unbuilt       fate = iota // the compiler or the tests refuse it; not counted
	killedByOwn               // by the tests of the package
	killedByAbove             // by those of the packages above
	survived
)

func (f fate) String() string {
	return [...]string{"does not build", "killed by own tests", "killed by tests above", "SURVIVED"}[f]
}

// A result is a mutant with its fate.
type result struct {
	mutant
	fate fate
}

// A runner has what all runs have in common.
type runner struct {
	root        string // of the checkout
	targets     []target
	equivalents string
	match       *regexp.Regexp // of the mutants to choose from
	cache       string         // the folder of compiled packages without mutants, a temporary one if empty
	n           int            // of mutants
	seed        uint64
	workers     int
	together    int           // how many mutants are built together at most
	grace       time.Duration // of a hanging test, besides five times what it takes
	verbose     bool
	out         io.Writer

	ctx     context.Context
	temp    string
	mu      sync.Mutex
	queues  []queue
	results []result

	caching sync.RWMutex // cache grows while it is locked
	limits  map[step]time.Duration
}

// A queue has the mutants of a target in the order in which they are drawn.
type queue struct {
	target target
	left   []mutant
	wanted int
}

// A step is a test binary.
type step struct{ name, tags string }

func (t target) steps() []step {
	steps := []step{{t.name, t.tags}}
	for _, name := range t.above {
		steps = append(steps, step{name, ""})
	}
	return steps
}

// The limits of a test, so that no mutant takes the machine: 8 GiB of addresses, and files of
// 6 GiB, which some tests write with gaps.
const sandbox = "ulimit -v 8388608; ulimit -f 6291456; exec \"$@\""

// run makes and tests mutants.
func (r *runner) run(ctx context.Context) error {
	var err error
	r.ctx = ctx
	if r.temp, err = os.MkdirTemp("", "mutants"); err != nil {
		return err
	}
	defer os.RemoveAll(r.temp)
	r.limits = map[step]time.Duration{}
	if r.cache == "" {
		r.cache = filepath.Join(r.temp, "cache")
	}
	if err := r.draw(); err != nil {
		return err
	}
	var wg sync.WaitGroup
	failures := make([]error, r.workers)
	for w := range failures {
		wg.Go(func() { failures[w] = r.work(filepath.Join(r.temp, strconv.Itoa(w))) })
	}
	wg.Wait()
	r.summary()
	return errors.Join(failures...)
}

// draw shuffles the mutants of all targets, and says how many to take of each.
func (r *runner) draw() error {
	equivalent, err := parseEquivalents(r.equivalents)
	if err != nil {
		return err
	}
	unknown := map[key]bool{} // equivalents of which there is no such mutant
	for k := range equivalent {
		unknown[k] = true
	}
	all := 0
	for _, t := range r.targets {
		p, err := r.load(t)
		if err != nil {
			return err
		}
		q := queue{target: t}
		for _, m := range find(p) {
			delete(unknown, m.id)
			if !equivalent[m.id] && (r.match == nil || r.match.MatchString(m.String())) {
				q.left = append(q.left, m)
			}
		}
		rnd := rand.New(rand.NewPCG(r.seed, uint64(len(q.left))))
		rnd.Shuffle(len(q.left), func(i, j int) { q.left[i], q.left[j] = q.left[j], q.left[i] })
		all += len(q.left)
		r.queues = append(r.queues, q)
	}
	for k := range unknown {
		pkg := regexp.MustCompile(`^(.*/)?[^/.]*`).FindString(k.function)
		if slices.ContainsFunc(r.targets, func(t target) bool { return t.name == pkg }) {
			err = errors.Join(err, fmt.Errorf("equivalents: there is no mutant %v", k))
		}
	}
	sum := 0
	for i := range r.queues {
		q := &r.queues[i]
		before := sum * r.n / max(1, all)
		sum += len(q.left)
		q.wanted = min(sum*r.n/max(1, all)-before, len(q.left))
	}
	return err
}

// limit returns how long the tests of a step may take, by the time that they take without
// mutants, when they must pass.
func (r *runner) limit(s step) (time.Duration, error) {
	r.caching.Lock()
	defer r.caching.Unlock()
	if limit, ok := r.limits[s]; ok {
		return limit, nil
	}
	dir := filepath.Join(r.temp, "unmutated")
	test, err := r.build(s, r.cache, dir, "")
	if err != nil {
		return 0, err
	}
	var out bytes.Buffer
	start := time.Now()
	if err := r.test(s, test, dir, 0, time.Hour, &out); err != nil {
		return 0, fmt.Errorf("%s fails without mutants: %w\n%s", s.name, err, &out)
	}
	r.limits[s] = 5*time.Since(start) + r.grace
	return r.limits[s], os.RemoveAll(dir)
}

// next draws mutants of one package that compile, to be built together, or none if there are enough.
func (r *runner) next() (t target, some []mutant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.queues {
		q := &r.queues[i]
		for q.wanted > 0 && len(q.left) > 0 && len(some) < r.together {
			m := q.left[0]
			if m.body == nil && len(some) > 0 {
				break // it is built alone
			}
			if q.left = q.left[1:]; !m.compiles() {
				continue
			}
			q.wanted--
			if some = append(some, m); m.body == nil {
				break
			}
		}
		if len(some) > 0 {
			return q.target, some
		}
	}
	return t, nil
}

// work tests mutants until there are enough, in a folder of its own.
func (r *runner) work(dir string) error {
	for {
		t, some := r.next()
		if len(some) == 0 {
			return nil
		}
		err := r.try(t, some, dir)
		if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
			return err
		}
	}
}

// done notes the fate of a mutant.
func (r *runner) done(t target, m mutant, f fate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results = append(r.results, result{m, f})
	if f == unbuilt {
		for i := range r.queues {
			if r.queues[i].target.name == t.name {
				r.queues[i].wanted++
			}
		}
	}
	if f == survived || r.verbose {
		fmt.Fprintf(r.out, "%v %v\n", f, m)
	}
}

// try tests mutants of a package that are built together.
func (r *runner) try(t target, some []mutant, dir string) error {
	// What is compiled with the mutants goes away with the folder: 160 MB for some packages.
	cache := filepath.Join(dir, "cache")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	files, err := together(some[0].pkg, some, dir)
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		return err
	}
	left := make([]int, len(some)) // the mutants that passed the tests so far, by index
	for i := range left {
		left[i] = i
	}
	for i, s := range t.steps() {
		limit, err := r.limit(s)
		if err != nil {
			return err
		}
		r.caching.RLock()
		err = link(cache, r.cache)
		r.caching.RUnlock()
		if err != nil {
			return err
		}
		test, err := r.build(s, cache, dir, overlay)
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		} else if err == nil && len(some) > 1 { // tests may count allocations, which copies change
			err = r.test(s, test, dir, 0, limit, nil)
		}
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		} else if err != nil {
			rest := make([]mutant, len(left))
			for j, k := range left {
				rest[j] = some[k]
			}
			return r.apart(t, rest, dir, err)
		}
		var passed []int
		for _, k := range left {
			// A mutant may print without end.
			if err := r.test(s, test, dir, k+1, limit, nil); r.ctx.Err() != nil {
				return r.ctx.Err()
			} else if err != nil {
				r.done(t, some[k], min(killedByOwn+fate(i), killedByAbove))
			} else {
				passed = append(passed, k)
			}
		}
		if err := os.Remove(test); err != nil {
			return err
		}
		if left = passed; len(left) == 0 {
			return nil
		}
	}
	for _, k := range left {
		r.done(t, some[k], survived)
	}
	return nil
}

// apart tests mutants that cannot be built together, in two halves.
func (r *runner) apart(t target, some []mutant, dir string, err error) error {
	log.Print(err)
	if len(some) == 1 {
		r.done(t, some[0], unbuilt)
		return nil
	}
	half := len(some) / 2
	return errors.Join(r.try(t, some[:half], dir), r.try(t, some[half:], dir))
}

// build builds the tests of a step, and returns where they are.
func (r *runner) build(s step, cache, dir, overlay string) (string, error) {
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o777); err != nil {
		return "", err
	}
	test := filepath.Join(dir, "test")
	_, err := r.command(cache, dir, "test", "-c", "-p=1", "-vet=off", "-ldflags=-s -w",
		"-tags="+s.tags, "-overlay="+overlay,
		"-o="+test, "./"+s.name)
	return test, err
}

// test runs the tests of a step with a mutant, or none for 0, which may not take longer than a time.
func (r *runner) test(s step, test, dir string, mutant int, limit time.Duration, out io.Writer) error {
	ctx, cancel := context.WithTimeout(r.ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", sandbox, "sh",
		test, "-test.short", "-test.failfast", "-test.timeout=0")
	cmd.Dir = filepath.Join(r.root, s.name)
	cmd.Env = append(r.env(r.cache, filepath.Join(dir, "tmp")), chosen+"="+strconv.Itoa(mutant))
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that what the tests start is killed as well
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}

// env returns the environment of programs.
func (r *runner) env(cache, temp string) []string {
	return append(os.Environ(), "GOCACHE="+cache, "TMPDIR="+temp, "RNTUPLE_SEED="+strconv.FormatUint(r.seed, 10))
}

// command runs the go command, and returns what it prints.
func (r *runner) command(cache, temp string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(r.ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = r.root, r.env(cache, temp), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd, err, stderr.Bytes())
	}
	return out, nil
}

// link adds to a folder the files of another one that it does not have.
func link(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		if err := os.Link(path, filepath.Join(to, rel)); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}

// summary prints how many mutants had which fate.
func (r *runner) summary() {
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nmutants of\tmade\tkilled by own tests\tby tests above\tsurvived\t")
	var total [survived + 1]int
	row := func(name string, n [survived + 1]int) {
		made := n[killedByOwn] + n[killedByAbove] + n[survived]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t\n", name, made, n[killedByOwn], n[killedByAbove], n[survived])
	}
	for _, t := range r.targets {
		var n [survived + 1]int
		for _, res := range r.results {
			if res.pkg.name == t.name {
				n[res.fate]++
				total[res.fate]++
			}
		}
		row(t.name, n)
	}
	row("all", total)
	w.Flush()
}

// String returns where the mutant is, and the lines before and after the change.
func (m mutant) String() string {
	return fmt.Sprintf("%s/%s:%d: %v", m.pkg.name, filepath.Base(m.pkg.paths[m.file]), m.line, m.id)
}
