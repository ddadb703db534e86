package powercut

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// A scenario is a program that writes a file, and what the file holds meanwhile.
type scenario struct {
	name string
	file string // its name, without folder; "" stands for file.root
	// before makes the files that are there when the program starts, and returns what the
	// file holds: nil if it is not there.
	before func(s *script) (state, error)
	run    func(s *script) error
	// unsteady says that the order and the number of writes differ from run to run.
	unsteady bool
}

// A script runs a scenario.
type script struct {
	dir, path string
	opts      *rntuple.WriteOptions
	ack       func() // is called when a state has been acknowledged

	state   state   // that the program is about to commit
	states  []state // those that it has committed, and the one from before
	closers []func() error
}

// other returns the path of another file in the folder.
func (s *script) other(name string) string { return filepath.Join(s.dir, name) }

// adds notes that the program is about to commit an RNTuple.
func (s *script) adds(path string, c content) { s.state = s.state.with(path, c) }

// commits calls commit, which makes the state the one that the file holds.
func (s *script) commits(commit func() error) error {
	s.states = append(s.states, s.state)
	if err := commit(); err != nil {
		return err
	}
	s.ack()
	return nil
}

// closer keeps what must return an error when it is closed again.
func (s *script) closer(close func() error) { s.closers = append(s.closers, close) }

// closes is commits for the Close method of a file or writer.
func (s *script) closes(close func() error) error {
	s.closer(close)
	err := s.commits(close)
	if err == nil {
		s.closers = nil
	}
	return err
}

// write writes rows.
func write[W interface{ Write(*row) error }](w W, first, n int64) error {
	for id := first; id < first+n; id++ {
		r := rowOf(id)
		if err := w.Write(&r); err != nil {
			return err
		}
	}
	return nil
}

// put writes an RNTuple to a file; its path is that of its first cycle. Without options, it takes
// those of the script.
func (s *script) put(f *rntuple.File, path string, first, n int64, opts *rntuple.WriteOptions) error {
	s.adds(path+";1", count(first, n))
	w, err := rntuple.NewWriter[row](f, path, within(cmp.Or(opts, s.opts)))
	if err != nil {
		return err
	}
	s.closer(w.Close)
	if err := write(w, first, n); err != nil {
		return err
	}
	return w.Close()
}

// within returns options for an RNTuple in a file that is open.
func within(opts *rntuple.WriteOptions) *rntuple.WriteOptions {
	o := *opts
	o.File = rntuple.FileOptions{}
	return &o
}

// all writes RNTuples with put.
func (s *script) all(f *rntuple.File, first, n int64, paths ...string) error {
	for i, path := range paths {
		if err := s.put(f, path, first+1000*int64(i), n, nil); err != nil {
			return err
		}
	}
	return nil
}

// create makes the file with RNTuples.
func (s *script) create(first, n int64, paths ...string) error {
	f, err := rntuple.CreateFile(s.path, &s.opts.File)
	if err != nil {
		return err
	}
	if err := s.all(f, first, n, paths...); err != nil {
		return errors.Join(err, f.Close())
	}
	return s.closes(f.Close)
}

// update adds RNTuples to the file.
func (s *script) update(first, n int64, paths ...string) error {
	f, err := rntuple.UpdateFile(s.path, &s.opts.File)
	if err != nil {
		return err
	}
	if err := s.all(f, first, n, paths...); err != nil {
		return errors.Join(err, f.Close())
	}
	return s.closes(f.Close)
}

// created is a scenario's before.
func created(paths ...string) func(*script) (state, error) {
	return func(s *script) (state, error) {
		s.state = state{}
		err := s.create(0, 30, paths...)
		return s.state, err
	}
}

func nothing(*script) (state, error) { return nil, nil }

// ofROOT copies a file of ROOT's with a histogram, and directories with RNTuples.
func ofROOT(s *script) (state, error) {
	const good = "../../../testdata/good/"
	b, err := os.ReadFile(good + "special_dirs.root")
	if err != nil {
		return nil, err
	}
	all, err := keysOf(b)
	if err != nil {
		return nil, err
	}
	st := state{}
	for name, what := range all {
		st[name] = what
	}
	for name, lines := range map[string]string{
		"dir/sub/ntuple;1": "sub", "dir/other;1": "other", "dir/top;1": "dirtop", "top;1": "top_1", "top;2": "top_2",
	} {
		b, err := unzipped(good + "special_dirs_" + lines + ".jsonl.gz")
		if err != nil {
			return nil, err
		}
		st[name] = &judged{strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")}
	}
	if len(all) < 8 || !strings.HasPrefix(all["h;1"], "TH1D ") {
		return nil, fmt.Errorf("the file has other keys: %q", all)
	}
	return st, os.WriteFile(s.path, b, 0o666)
}

// torn copies a file that this library wrote before it took care of sectors (commit 200aae9).
// Of the record of the directory sub, n bytes lie in one sector, and the others in the next.
func torn(n int) func(*script) (state, error) {
	return func(s *script) (state, error) {
		b, err := unzipped(fmt.Sprintf("testdata/sub_%d.root.gz", n))
		if err != nil {
			return nil, err
		}
		return state{"x;1": count(0, 3), "sub/y;1": count(10, 3)}, os.WriteFile(s.path, b, 0o666)
	}
}

// inSub adds RNTuples to the directory sub.
func inSub(s *script) error {
	if err := s.update(20, 3, "sub/z"); err != nil {
		return err
	}
	return s.update(30, 3, "x2", "sub/u")
}

// checkpoints makes n checkpoints of each rows, each an RNTuple of that path and cycle.
func (s *script) checkpoints(w *rntuple.Writer[row], path string, have *ids, n, each int64) error {
	for i := range n {
		first := 5000 + i*each
		have = have.then(first, each)
		s.adds(path, have)
		if err := write(w, first, each); err != nil {
			return err
		}
		if err := s.commits(w.Checkpoint); err != nil {
			return err
		}
	}
	return nil
}

// appends adds entries to an RNTuple of created, at the path, and notes, with a checkpoint
// between them.
func (s *script) appends(path string, n int64) error {
	w, err := rntuple.Append[row](s.path, path, s.opts)
	if err != nil {
		return err
	}
	s.closer(w.Close)
	err = func() error {
		old, _ := s.state[path+";1"].(*ids)
		if err := write(w, 7000, n); err != nil {
			return err
		}
		a, err := rntuple.NewAttributes[note](w, "notes", within(s.opts))
		if err != nil {
			return err
		}
		for i := range n {
			if err := a.Write(rntuple.EntryRange{First: i, End: i + i%4}, note{i}); err != nil {
				return err
			}
		}
		have := old.then(7000, n).noted(n)
		s.adds(path+";2", have)
		if err := s.commits(w.Checkpoint); err != nil {
			return err
		}
		if err := a.Write(rntuple.EntryRange{First: n, End: n + n%4}, note{n}); err != nil {
			return err
		}
		s.adds(path+";2", have.then(8000, n).noted(n+1))
		return write(w, 8000, n)
	}()
	if err != nil {
		return errors.Join(err, w.Close())
	}
	return s.closes(w.Close)
}

// merging makes two files to be merged.
func merging(s *script) (state, error) {
	path := s.path
	defer func() { s.path = path }()
	for i, name := range []string{"in1.root", "in2.root"} {
		s.path = s.other(name)
		if err := s.create(int64(100+100*i), 20, "x"); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (s *script) inputs() []surgery.Input {
	return []surgery.Input{{Path: s.other("in1.root"), Name: "x"}, {Path: s.other("in2.root"), Name: "x"}}
}

// scenarios are what the issue of durability names: whatever writes a file.
var scenarios = []*scenario{
	{name: "create", before: nothing, run: func(s *script) error { return s.create(0, 40, "x") }},
	{name: "replace", before: created("old", "sub/old"), run: func(s *script) error {
		s.state = nil
		return s.create(0, 40, "x")
	}},
	{name: "several", before: nothing, run: func(s *script) error {
		return s.create(0, 10, "a",
			"sub/b", "sub/deep/c", "d")
	}},
	{name: "update", before: created("a"), run: func(s *script) error { return s.update(100, 10, "b") }},
	{name: "update directories", before: created("a", "sub/b", "sub/deep/c"), run: func(s *script) error {
		return s.update(100, 10, "x", "sub/y", "new/z", "sub/deep/u", "sub/new/v")
	}},
	{name: "update often", before: created("a", "sub/b"), run: func(s *script) error {
		for i := range 6 {
			if err := s.update(100, 10, []string{"a", "sub/b"}[i%2]+fmt.Sprint(i)); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "ROOT's file", before: ofROOT, run: func(s *script) error {
		if err := s.update(100, 10, "added"); err != nil {
			return err
		}
		return s.update(200, 10, "dir/added", "dir/sub/added", "last")
	}},
	{name: "append", before: created("a"), run: func(s *script) error { return s.appends("a", 10) }},
	{name: "append in a directory", before: created("a", "sub/b"),
		run: func(s *script) error { return s.appends("sub/b", 10) }},
	{name: "checkpoints", before: nothing, run: func(s *script) error {
		w, err := rntuple.Create[row](s.path, "x", s.opts)
		if err != nil {
			return err
		}
		s.closer(w.Close)
		if err := s.checkpoints(w, "x;1", &ids{}, 24, 4); err != nil {
			return errors.Join(err, w.Close())
		}
		return s.closes(w.Close)
	}},
	{name: "checkpoints of two", before: created("a"), run: func(s *script) error {
		f, err := rntuple.UpdateFile(s.path, &s.opts.File)
		if err != nil {
			return err
		}
		err = func() error {
			for _, path := range []string{"x", "sub/y", "sub/z"} {
				w, err := rntuple.NewWriter[row](f, path, within(s.opts))
				if err != nil {
					return err
				}
				s.closer(w.Close)
				if err := s.checkpoints(w, path+";1", &ids{}, 6, 5); err != nil {
					return errors.Join(err, w.Close())
				}
				s.closer(w.Close)
				if err := w.Close(); err != nil {
					return err
				}
			}
			return nil
		}()
		if err != nil {
			return errors.Join(err, f.Close())
		}
		return s.closes(f.Close)
	}},
	{name: "append with checkpoints", before: created("a"), run: func(s *script) error {
		w, err := rntuple.Append[row](s.path, "a", s.opts)
		if err != nil {
			return err
		}
		old, _ := s.state["a;1"].(*ids)
		s.closer(w.Close)
		if err := s.checkpoints(w, "a;2", old, 20, 4); err != nil {
			return errors.Join(err, w.Close())
		}
		return s.closes(w.Close)
	}},
	{name: "several clusters", unsteady: true, before: created("a"), run: func(s *script) error {
		opts := *s.opts
		opts.Workers, opts.ClusterSize = 3, 1000
		f, err := rntuple.UpdateFile(s.path, &opts.File)
		if err != nil {
			return err
		}
		for i, path := range []string{"b", "sub/c"} {
			if err := s.put(f, path, int64(100*i), 90, &opts); err != nil {
				return errors.Join(err, f.Close())
			}
		}
		return s.closes(f.Close)
	}},
	{name: "directory torn at 12", before: torn(12), run: inSub},
	{name: "directory torn at 20", before: torn(20), run: inSub},
	{name: "directory torn at 28", before: torn(28), run: inSub},
	{name: "rename", before: created("a", "sub/b"), run: func(s *script) error {
		for _, dir := range []string{"", "sub/"} {
			old := dir + map[string]string{"": "a", "sub/": "b"}[dir]
			s.state = s.state.with(dir+"other;1", s.state[old+";1"].(content)).without(old + ";1")
			err := s.commits(func() error {
				return surgery.RenameInPlace(context.Background(), surgery.Input{Path: s.path, Name: old},
					surgery.Renaming{Name: "other"},
					&surgery.InPlaceOptions{Compression: s.opts.Compression, File: s.opts.File})
			})
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "merge", before: merging, run: func(s *script) error {
		s.adds("x;1", count(100, 20).then(200, 20))
		return s.commits(func() error {
			_, err := surgery.Merge(context.Background(), s.path, s.inputs(),
				&surgery.MergeOptions{Options: surgery.Options{Write: *s.opts}})
			return err
		})
	}},
	{name: "merge into", before: func(s *script) (state, error) {
		if _, err := merging(s); err != nil {
			return nil, err
		}
		return created("x", "sub/x")(s)
	}, run: func(s *script) error {
		for _, path := range []string{"x", "sub/x"} {
			s.adds(path+";2", s.state[path+";1"].(*ids).then(100, 20).then(200, 20))
			err := s.commits(func() error {
				_, err := surgery.MergeInto(context.Background(), surgery.Input{Path: s.path, Name: path}, s.inputs(),
					&surgery.MergeOptions{Options: surgery.Options{Write: *s.opts}})
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "long name", file: strings.Repeat("n", 195) + ".root", before: created("a", "sub/b"),
		run: func(s *script) error {
			if err := s.update(100, 10, "c", "sub/d"); err != nil {
				return err
			}
			return s.update(200, 10, "e")
		}},
	{name: "long name, checkpoints", file: strings.Repeat("n", 245) + ".root", before: nothing,
		run: func(s *script) error {
			w, err := rntuple.Create[row](s.path, "x", s.opts)
			if err != nil {
				return err
			}
			s.closer(w.Close)
			if err := s.checkpoints(w, "x;1", &ids{}, 5, 20); err != nil {
				return errors.Join(err, w.Close())
			}
			return s.closes(w.Close)
		}},
}

// script returns a script that runs the scenario in a folder.
func (sc *scenario) script(dir string, noSync bool) *script {
	name := sc.file
	if name == "" {
		name = "file.root"
	}
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	s := &script{dir: dir, path: filepath.Join(dir, name), ack: func() {}}
	s.opts = &rntuple.WriteOptions{Workers: 1, Compression: compress.None, File: rntuple.FileOptions{
		Compression: compress.None, NoSync: noSync, UUID: [16]byte{1,
			15: 2}, Clock: func() time.Time { at = at.Add(time.Second); return at },
	}}
	return s
}

// start makes the files of a scenario in a folder, and returns a script that will run it.
func (sc *scenario) start(t *testing.T, dir string, noSync bool) *script {
	t.Helper()
	s := sc.script(dir, noSync)
	st, err := sc.before(s)
	if err != nil {
		t.Fatalf("%s: %v", sc.name, err)
	}
	return sc.resume(dir, st, noSync)
}

// resume returns a script that runs the scenario in a folder with the files, in a state.
func (sc *scenario) resume(dir string, st state, noSync bool) *script {
	s := sc.script(dir, noSync)
	s.state, s.states = st, []state{st}
	return s
}
