package diskfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain does what child wants in the processes that it starts.
func TestMain(m *testing.M) {
	if job := os.Getenv("DISKFILE_CHILD"); job != "" {
		if err := run(job, os.Getenv("DISKFILE_PATH")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// run does a job with the file at path, and keeps the file open while standard input is.
func run(job, path string) (err error) {
	var f io.Closer
	switch job {
	case "create":
		f, err = Create(path, Options{})
	case "update":
		f, err = Update(path, Options{})
	case "wait":
		fmt.Println("ready")
		f, err = Update(path, Options{Wait: time.Minute})
	case "read":
		f, err = os.Open(path)
	case "write":
		f, err = os.OpenFile(path, os.O_WRONLY, 0)
	case "read and write":
		f, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// child starts a process that does a job, and returns once it is ready. End lets it
// finish.
func child(t *testing.T, job, path string) (cmd *exec.Cmd, end func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DISKFILE_CHILD="+job, "DISKFILE_PATH="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no processes can be started here: %v", err)
	}
	end = sync.OnceFunc(func() {
		in.Close()
		io.Copy(io.Discard, out)
		cmd.Wait()
	})
	t.Cleanup(end)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%s: %q, %v", job, line, err)
	}
	return cmd, end
}

// record returns the kinds of operations, in order, that do causes. Each is first
// passed to fail.
func record(t *testing.T, do func(), fail func(Op) (int, error)) []string {
	t.Helper()
	names := []string{"create", "write", "sync", "truncate", "rename", "sync folder", "remove"}
	var mu sync.Mutex
	var all []string
	Hook = func(op Op) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, names[op.Kind])
		if fail == nil {
			return 0, nil
		}
		return fail(op)
	}
	defer func() { Hook = nil }()
	do()
	return all
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// check compares the content of a file, and makes sure that its folder has n files.
func check(t *testing.T, path, want string, n int) {
	t.Helper()
	if got, err := os.ReadFile(path); string(got) != want || err != nil && want != "" {
		t.Errorf("%s has %q, %v; want %q", path, got, err, want)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); len(entries) != n || err != nil {
		t.Errorf("%s: %v, %v; want %d files", filepath.Dir(path), entries, err, n)
	}
}

// made makes a file at path with Create.
func made(path, content string, o Options) error {
	f, err := Create(path, o)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(content), 0)
	if err == nil {
		err = f.Publish()
	}
	return errors.Join(err, f.Close())
}

func TestOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	use := func(o Options) func() {
		return func() {
			f, err := Create(path, o)
			if err != nil {
				t.Fatal(err)
			}
			_, err1 := f.WriteAt([]byte("ab"), 0)
			if err := errors.Join(err1, f.Sync(), f.Publish(), f.Publish()); err != nil {
				t.Fatal(err)
			}
			check(t, path, "ab", 1)
			_, err1 = f.WriteAt([]byte("cd"), 2)
			if err := errors.Join(err1, f.Sync(), f.Truncate(3), f.Close()); err != nil {
				t.Fatal(err)
			}
			check(t, path, "abc", 1)
			if f, err = Update(path, o); err != nil {
				t.Fatal(err)
			}
			_, err1 = f.WriteAt([]byte("x"), 0)
			if err := errors.Join(err1, f.Sync(), f.Publish(), f.Close()); err != nil {
				t.Fatal(err)
			}
			check(t, path, "xbc", 1)
		}
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "create, write, sync, rename, sync folder, write, sync, truncate, write, sync"},
		{Options{NoSync: true}, "create, write, rename, write, truncate, write"},
	} {
		want := c.want
		if !syncsFolders {
			want = strings.Replace(want, "sync folder, ", "", 1)
		}
		if got := strings.Join(record(t, use(c.o), nil), ", "); got != want {
			t.Errorf("NoSync %t:\ngot  %s\nwant %s", c.o.NoSync, got, want)
		}
	}
}

// TestFailures makes each operation fail that replaces a file, and reads what there is
// afterwards.
func TestFailures(t *testing.T) {
	injected := errors.New("injected")
	for _, c := range []struct {
		kind OpKind
		want string
	}{{CreateOp, "old"}, {WriteOp, "old"}, {SyncOp, "old"}, {RenameOp, "old"}, {SyncDirOp, "new"}} {
		if c.kind == SyncDirOp && !syncsFolders {
			continue
		}
		path := filepath.Join(t.TempDir(), "file")
		write(t, path, "old")
		var err error
		record(t, func() { err = made(path, "new", Options{}) }, func(op Op) (int, error) {
			if op.Kind == c.kind {
				return 1, injected
			}
			return 0, nil
		})
		check(t, path, c.want, 1)
		if !errors.Is(err, injected) {
			t.Errorf("operation %d: error %v", c.kind, err)
		} else if m := err.Error(); strings.Contains(m, prefix) || !strings.Contains(m, filepath.Dir(path)) {
			t.Errorf("operation %d: message %q", c.kind, m)
		}
	}
}

// TestShortWrite makes a write fail after some bytes.
func TestShortWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "0123456789")
	f, err := Update(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	record(t, func() {
		if n, err := f.WriteAt([]byte("abcd"), 2); n != 3 || !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%d, %v", n, err)
		}
	}, func(Op) (int, error) { return 3, io.ErrShortWrite })
	check(t, path, "01abc56789", 1)
}

// TestFailedSync makes one sync fail. Another attempt might succeed although data are
// lost, so there must not be one.
func TestFailedSync(t *testing.T) {
	injected := errors.New("injected")
	once := func() func(Op) (int, error) {
		failed := false
		return func(op Op) (int, error) {
			if op.Kind == SyncOp && !failed {
				failed = true
				return 0, injected
			}
			return 0, nil
		}
	}
	path := filepath.Join(t.TempDir(), "file")
	ops := record(t, func() {
		f, err := Create(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := f.Publish(); !errors.Is(err, injected) {
				t.Errorf("Publish: %v", err)
			}
		}
		if err := f.Sync(); !errors.Is(err, injected) {
			t.Errorf("Sync: %v", err)
		}
		f.Close()
	}, once())
	if got := strings.Join(ops, ", "); got != "create, sync, remove" {
		t.Error("create:", got)
	}
	check(t, path, "", 0)
	write(t, path, "old")
	ops = record(t, func() {
		f, err := Update(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for range 3 {
			if err := f.Sync(); !errors.Is(err, injected) {
				t.Errorf("Sync: %v", err)
			}
		}
	}, once())
	if got := strings.Join(ops, ", "); got != "sync" {
		t.Error("update:", got)
	}
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 250))
	for _, content := range []string{"one", "two"} {
		if err := made(path, content, Options{}); err != nil {
			t.Fatal(err)
		}
		check(t, path, content, 1)
	}
	t.Chdir(dir)
	if err := made("bare", "x", Options{}); err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(dir, "bare"), "x", 2)
	for _, path := range []string{"", "none/file", "bare/file", "none/", dir, strings.Repeat("n", 256)} {
		for what, open := range map[string]func(string, Options) (*File, error){"create": Create, "open": Update} {
			f, err := open(path, Options{})
			if err == nil {
				f.Close()
				t.Errorf("%s %q: no error", what, path)
			} else if !strings.HasPrefix(err.Error(), what+" "+path+": ") || strings.Contains(err.Error(), prefix) {
				t.Errorf("%s %q: %v", what, path, err)
			}
		}
	}
	check(t, filepath.Join(dir, "bare"), "x", 2)
}

func TestSymlinks(t *testing.T) {
	dir := t.TempDir()
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	for _, d := range []string{"a", "a/b", "links"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "a/file"), "old")
	link("../a/file", "links/relative")
	link(filepath.Join(dir, "a/file"), "links/absolute")
	link("relative", "links/chain")
	link("../a/b", "links/folder")
	link("../a/b/dangling", "links/dangling")
	link("folder/../up", "links/up") // "up" beside "b", not beside "folder"
	link("loop2", "links/loop1")
	link("loop1", "links/loop2")
	for name, target := range map[string]string{
		"relative": "a/file", "absolute": "a/file", "chain": "a/file", "dangling": "a/b/dangling",
		"folder/file": "a/b/file", "up": "a/up",
	} {
		path := filepath.Join(dir, "links", name)
		before, _ := os.Lstat(path)
		if err := made(path, name, Options{}); err != nil {
			t.Error(err)
			continue
		}
		if got, err := os.ReadFile(filepath.Join(dir, target)); string(got) != name || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if after, err := os.Lstat(path); err != nil || before != nil && after.Mode() != before.Mode() {
			t.Errorf("%s: %v, %v", name, after.Mode(), err)
		}
		f, err := Update(path, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		f.Close()
	}
	if _, err := Create(filepath.Join(dir, "links/loop1"), Options{}); err == nil ||
		!strings.Contains(err.Error(), "symbolic links") {
		t.Errorf("loop: %v", err)
	}
}

func TestOrphans(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	far := fmt.Sprintf("%08x", ^crc32.ChecksumIEEE([]byte(host()))) // the locks of that machine may not hold here
	for name, age := range map[string]time.Duration{
		prefix + host() + "0123456789abcdef" + suffix: 0,
		prefix + far + "0123456789abcdef" + suffix:    25 * time.Hour,
		prefix + far + "fedcba9876543210" + suffix:    23 * time.Hour, // stays
		prefix + host() + "0123" + suffix:             25 * time.Hour, // not a name that Create makes
	} {
		write(t, filepath.Join(dir, name), "")
		if old := time.Now().Add(-age); os.Chtimes(filepath.Join(dir, name), old, old) != nil {
			t.Fatal("the time of a file cannot be set")
		}
	}
	if err := os.Mkdir(filepath.Join(dir, prefix+host()+"abcdefabcdefabcd"+suffix), 0o777); err != nil {
		t.Fatal(err)
	}
	living, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	probe, err := os.Open(living.name)
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	if err := lock(probe); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("there are no locks here")
	}
	check(t, path, "", 4)
	cmd, _ := child(t, "create", path)
	check(t, path, "", 5)
	if err := made(path, "one", Options{}); err != nil {
		t.Fatal(err)
	}
	check(t, path, "one", 6)
	cmd.Process.Kill()
	cmd.Wait()
	if err := made(path, "two", Options{}); err != nil {
		t.Fatal(err)
	}
	check(t, path, "two", 5)
	if err := errors.Join(living.Publish(), living.Close()); err != nil {
		t.Fatal(err)
	}
	check(t, path, "", 4)
}

// TestCleaners has many writers that look for orphans while others create their files.
func TestCleaners(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 25 {
				if err := made(filepath.Join(dir, fmt.Sprint(i)), "content", Options{NoSync: true}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	path := filepath.Join(dir, "0")
	check(t, path, "content", 8)

	// The lock of one who took the file for an orphan, until it was published.
	guard, err := tryLock(path)
	if err != nil || guard == nil {
		t.Skip("there are no locks here: ", err)
	}
	defer func(d time.Duration) { grace = d }(grace)
	grace = time.Minute
	time.AfterFunc(20*time.Millisecond, func() { guard.Close() })
	if err := made(path, "again", Options{}); err != nil {
		t.Error(err)
	}
	check(t, path, "again", 8)
}

// locking skips the test where there are no locks.
func locking(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "probe"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := lock(f); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("there are no locks here")
	}
}

func TestLock(t *testing.T) {
	locking(t)
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "old")
	locked := func(what string) {
		t.Helper()
		if f, err := Update(path, Options{}); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: Update: %v, %v", what, f, err)
		} else if got, want := err.Error(), path+": another process is updating the file"; got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
		if err := made(path, "new", Options{}); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: Publish: %v", what, err)
		}
		check(t, path, "old", 1)
	}
	f, err := Update(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	locked("the same process")
	f.Close()
	_, end := child(t, "update", path)
	locked("another process")
	end()
	f, err = Update(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	// A file that was published is locked until it is closed.
	if f, err = Create(path, Options{}); err != nil {
		t.Fatal(err)
	}
	_, err1 := f.WriteAt([]byte("old"), 0)
	if err := errors.Join(err1, f.Publish()); err != nil {
		t.Fatal(err)
	}
	locked("a published file")
	f.Close()
	if err := made(path, "new", Options{}); err != nil {
		t.Error(err)
	}
}

func TestWait(t *testing.T) {
	locking(t)
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "old")
	f, err := Update(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := Update(path, Options{Context: ctx, Wait: time.Hour}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	time.AfterFunc(20*time.Millisecond, cancel)
	all.Wait()
	all.Go(func() {
		f, err := Update(path, Options{Wait: time.Hour})
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		// It was replaced in the meantime.
		if b := make([]byte, 8); true {
			if n, err := f.ReadAt(b, 0); string(b[:n]) != "replaced" {
				t.Errorf("%q, %v", b[:n], err)
			}
		}
	})
	time.Sleep(20 * time.Millisecond)
	write(t, path+"2", "replaced")
	if err := os.Rename(path+"2", path); err != nil {
		f.Close()
		t.Skipf("files that are open cannot be replaced here: %v", err)
	}
	f.Close()
	all.Wait()
}

// TestLastLook cancels a context, or puts a file there, in the last look before a file gets its
// name.
func TestLastLook(t *testing.T) {
	for _, noReplace := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "a")
		ctx, cancel := context.WithCancel(t.Context())
		looking := WithLastLook(ctx, func(string) { cancel() })
		if err := made(path, "new", Options{Context: looking, NoReplace: noReplace}); !errors.Is(err, context.Canceled) {
			t.Errorf("NoReplace %v: %v", noReplace, err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("NoReplace %v: there is a file, %v", noReplace, err)
		}
		looking = WithLastLook(t.Context(), func(string) { write(t, path, "mine") })
		if err := made(path, "new", Options{Context: looking, NoReplace: noReplace}); errors.Is(err,
			fs.ErrExist) != noReplace {
			t.Errorf("NoReplace %v: %v", noReplace, err)
		}
	}
}

func TestNotRegular(t *testing.T) {
	for _, path := range []string{os.DevNull, t.TempDir()} {
		for _, open := range []func(string, Options) (*File, error){Create, Update} {
			if f, err := open(path, Options{}); !errors.Is(err, errNotRegular) {
				t.Errorf("%s: %v, %v", path, f, err)
			}
		}
	}
	if _, err := Update(filepath.Join(t.TempDir(), "none"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, path, "", 1)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	check(t, path, "", 0)
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

// ids returns the numbers of processes.
func ids(all []Process) (n []int) {
	for _, p := range all {
		n = append(n, p.ID)
	}
	slices.Sort(n)
	return n
}
