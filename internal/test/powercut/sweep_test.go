package powercut

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
	"github.com/go-rntuple/go-rntuple/internal/test/sampletest"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// plan returns how many images are made of a scenario, by chance; with RNTUPLE_CAMPAIGN=1
// those of every cut, and many more of each.
func plan(t *testing.T) Plan {
	seed := sampletest.Rand(t).Uint64()
	switch {
	case sampletest.Whole():
		return Plan{All: 1 << 10, Random: 2000, Seed: seed}
	case testing.Short():
		return Plan{All: 64, Random: 10, Cuts: 20, Seed: seed}
	}
	return Plan{All: 256, Random: 50, Cuts: 60, Seed: seed}
}

// hooked runs f with a hook.
func hooked(hook func(Op) (int, error), f func() error) error {
	diskfile.Hook = hook
	defer func() { diskfile.Hook = nil }()
	return f()
}

// snapshot returns the files in a folder.
func snapshot(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if files[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// record runs a scenario and returns what it does.
func (sc *scenario) record(t *testing.T, noSync bool) (*Log, *script) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no syncs of folders")
	}
	s := sc.start(t, t.TempDir(), noSync)
	l := NewLog(snapshot(t, s.dir))
	s.ack = l.Mark
	if err := hooked(l.Hook, func() error { return sc.run(s) }); err != nil {
		t.Fatalf("%s: %v\n%s", sc.name, err, l)
	}
	if len(s.states) < 2 || len(l.marks) != len(s.states)-1 {
		t.Fatalf("%s: %d states, acknowledged %v", sc.name, len(s.states), l.marks)
	}
	return l, s
}

// compare returns an error unless the image holds the state that was acknowledged last or the
// one that was about to be. It returns what the image holds.
func (s *script) compare(i *Image) (state, error) {
	want := s.states[i.Phase:min(i.Phase+2, len(s.states))]
	if !i.Exists {
		if want[0] != nil {
			return nil, errors.New("the file is gone")
		}
		return nil, nil
	}
	if want[0] == nil {
		want = want[1:]
	}
	return compare(i.Data, want...)
}

// check is compare, and has package verify check the image.
func (s *script) check(i *Image) (found state, err error) {
	if found, err = s.compare(i); err == nil && i.Exists {
		err = sound(i.Data)
	}
	return found, err
}

// report fails the test for the errors of a sweep.
func (r *Result) report(t *testing.T, l *Log) {
	t.Helper()
	for _, err := range r.Errors {
		t.Error(err)
	}
	if r.Failed > 0 {
		t.Errorf("%d of %d images are wrong; the operations:\n%s", r.Failed, r.Checked, l)
	}
}

// TestPowerCuts makes the images that a power cut may leave of the files of all scenarios.
// In each, all that was committed before is unchanged, what was about to be committed is
// there wholly or not at all, and package verify finds no problem.
func TestPowerCuts(t *testing.T) {
	keep := newSample(t)
	var all Result
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			l, s := sc.record(t, false)
			began := time.Now()
			r, err := l.Sweep(s.path, plan(t), func(i *Image) error {
				found, err := s.check(i)
				if err == nil && i.Exists {
					keep.add(sc.name, i.Data, found)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			r.report(t, l)
			t.Logf("%d operations, %d images, %d of them different, in %v", len(l.Ops), r.Made, r.Checked,
				time.Since(began).Round(time.Millisecond))
			all.Made += r.Made
			all.Checked += r.Checked
		})
	}
	keep.write(t)
	t.Logf("%d images, %d of them different", all.Made, all.Checked)
	if least := 300; all.Checked < least {
		t.Errorf("only %d images", all.Checked)
	}
}

// TestUnsynced makes sure that these tests can fail: without syncs power cuts damage the files
// of all scenarios. It does not count what only package verify finds.
func TestUnsynced(t *testing.T) {
	for _, sc := range scenarios {
		l, s := sc.record(t, true)
		if l.Count(diskfile.SyncOp)+l.Count(diskfile.SyncDirOp) > 0 {
			t.Errorf("%s: there are syncs\n%s", sc.name, l)
		}
		p := Plan{All: 64, Random: 10, Cuts: 10, Failures: 1}
		if !testing.Short() {
			p.Failures = 1000
		}
		r, err := l.Sweep(s.path, p, func(i *Image) error {
			_, err := s.compare(i)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d of %d images are wrong", sc.name, r.Failed, r.Checked)
		if r.Failed == 0 {
			t.Errorf("%s: all of %d images are right", sc.name, r.Checked)
		}
	}
}

// TestSyncs counts syncs: a commit waits for all that it refers to, and then for the head of
// the file. Directories that were there before take a third sync, and two of a commit that
// lists what they needed as free when the file is closed. A new file takes one, which is
// followed by the one of its folder.
func TestSyncs(t *testing.T) {
	type counts struct{ syncs, folders int }
	for _, test := range []struct {
		old, added []string
		want       counts
	}{
		{nil, []string{"a"}, counts{1, 1}},
		{nil, []string{"a", "sub/b"}, counts{1, 1}},
		{[]string{"a"}, []string{"b"}, counts{2, 0}},
		{[]string{"a", "sub/b"}, []string{"b"}, counts{2, 0}},
		{[]string{"a"}, []string{"b", "new/c", "new/sub/d"}, counts{2, 0}},
		{[]string{"a", "sub/b"}, []string{"sub/c"}, counts{5, 0}},
		{[]string{"a", "sub/b", "sub/deep/c"}, []string{"x", "sub/y", "sub/deep/z", "new/u"}, counts{5, 0}},
	} {
		sc := &scenario{name: fmt.Sprintf("%q and %q", test.old, test.added), before: nothing,
			run: func(s *script) error { return s.create(0, 5, test.added...) }}
		if test.old != nil {
			sc.before, sc.run = created(test.old...), func(s *script) error { return s.update(10, 5, test.added...) }
		}
		l, _ := sc.record(t, false)
		if got := (counts{l.Count(diskfile.SyncOp), l.Count(diskfile.SyncDirOp)}); got != test.want {
			t.Errorf("%s: %+v, want %+v\n%s", sc.name, got, test.want, l)
		}
	}
}

// TestSectors puts the record of a directory at places relative to the borders of sectors, and
// updates the directory. With RNTUPLE_CAMPAIGN=1 it takes all places.
func TestSectors(t *testing.T) {
	var all Result
	for _, n := range sampletest.Cases(sampletest.Rand(t), sector, 14) {
		sc := &scenario{name: fmt.Sprint("shift by ", n),
			before: func(s *script) (state, error) {
				f, err := rntuple.CreateFile(s.path, &s.opts.File)
				if err != nil {
					return nil, err
				}
				opts := *s.opts
				opts.Description = fmt.Sprintf("%*s", n, "")
				err = s.put(f, "x", 0, 3, &opts)
				if err == nil {
					err = s.put(f, "sub/y", 10, 3, nil)
				}
				return s.state, errors.Join(err, f.Close())
			},
			run: inSub,
		}
		l, s := sc.record(t, false)
		r, err := l.Sweep(s.path, Plan{All: 64, Random: 10}, func(i *Image) error {
			_, err := s.check(i)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r.report(t, l)
		all.Made += r.Made
		all.Checked += r.Checked
	}
	t.Logf("%d images, %d of them different", all.Made, all.Checked)
}

// TestTargets makes checkpoints of a file that the caller provides.
func TestTargets(t *testing.T) {
	sc := &scenario{name: "target"}
	s := sc.resume("", nil, false)
	l := NewLog(nil)
	s.ack = l.Mark
	target := NewTarget(l, s.path)
	f, err := rntuple.NewFile(target, s.path, &s.opts.File)
	if err != nil {
		t.Fatal(err)
	}
	w, err := rntuple.NewWriter[row](f, "sub/x", within(s.opts))
	if err == nil {
		err = s.checkpoints(w, "sub/x;1", &ids{}, 10, 3)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = s.all(f, 1000, 3, "y", "sub/z")
	}
	if err == nil {
		err = s.closes(f.Close)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Sweep(s.path, plan(t), func(i *Image) error {
		if _, err := keysOf(i.Data); err != nil && i.Phase == 0 {
			return nil // it has no contents before the first commit
		}
		_, err := s.check(i)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.report(t, l)
	if r.Checked < 100 || l.phase(len(l.Ops)) != 11 {
		t.Errorf("only %d images", r.Checked)
	}
}
