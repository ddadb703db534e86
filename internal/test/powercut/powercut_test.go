package powercut

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/disk/diskfile"
)

// text returns a file as text: runs of equal bytes, with 0 as a dot.
func text(b []byte) string {
	var s strings.Builder
	for i := 0; i < len(b); {
		n := 1
		for i+n < len(b) && b[i+n] == b[i] {
			n++
		}
		c := b[i]
		if c == 0 {
			c = '.'
		}
		fmt.Fprintf(&s, "%c%d ", c, n)
		i += n
	}
	return strings.TrimSpace(s.String())
}

func writeOp(path string, off int64, c string, n int) Op {
	return Op{Kind: diskfile.WriteOp, Path: path, Off: off, Data: []byte(strings.Repeat(c, n))}
}

func TestTears(t *testing.T) {
	old := strings.Repeat("a", 700)
	op := writeOp("f", 500, "b", 1600) // sectors 0 to 4: 12, 512, 512, 512, 52 bytes
	for f, want := range map[*fate]string{
		{}:                    "a700",
		{kind: wholeKind}:     "a500 b1600",
		{kind: prefix, at: 1}: "a500 b12 a188",
		{kind: prefix, at: 4}: "a500 b1548",
		{kind: suffix, at: 1}: "a512 b1588",
		{kind: suffix, at: 4}: "a700 .1348 b52",
		{kind: lost, at: 2}:   "a500 b524 .512 b564",
		{kind: lost, at: 4}:   "a500 b1548",
		{kind: length}:        "a700 .1400",
		{random, 0, slices.Repeat([]bool{false, true, false}, 2)}: "a512 b512 .1024 b52",
	} {
		if got := text(f.apply([]byte(old), op)); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	if got := len(tears(op)); got != 4+4+5+1 {
		t.Errorf("%d tears", got)
	}
	if got := len(tears(writeOp("f", 512, "b", 512))); got != 1 {
		t.Errorf("%d tears of a sector", got)
	}
	cut := Op{Kind: diskfile.TruncateOp, Off: 3}
	b := whole.apply([]byte("abcdef"), cut)
	if b = whole.apply(b, writeOp("f", 5, "x", 1)); string(b) != "abc\x00\x00x" {
		t.Errorf("%q: cut bytes came back", b)
	}
	if got := text(absent.apply([]byte("abc"), Op{Kind: diskfile.TruncateOp})); got != "a1 b1 c1" {
		t.Error(got)
	}
	if len(tears(cut)) != 0 {
		t.Error("a torn truncation")
	}
}

// images returns what a sweep finds, as text.
func images(t *testing.T, l *Log, path string, p Plan) []string {
	t.Helper()
	var mu sync.Mutex
	all := map[string]bool{}
	r, err := l.Sweep(path, p, func(i *Image) error {
		mu.Lock()
		defer mu.Unlock()
		s := "-"
		if i.Exists {
			s = text(i.Data)
		}
		all[fmt.Sprintf("%d: %s", i.Phase, s)] = true
		return nil
	})
	if err != nil || r.Failed > 0 || r.Checked != len(all) || r.Made < r.Checked {
		t.Fatalf("%+v, %v, %d images", r, err, len(all))
	}
	return slices.Sorted(maps.Keys(all))
}

func record(l *Log, ops ...Op) {
	for _, op := range ops {
		l.Hook(op)
	}
}

func TestUpdate(t *testing.T) {
	all := Plan{All: 1 << 10}
	l := NewLog(map[string][]byte{"d/f": []byte("aaaa")})
	check := func(want ...string) {
		t.Helper()
		if got := images(t, l, "d/f", all); !slices.Equal(got, want) {
			t.Errorf("%q, want %q\n%s", got, want, l)
		}
	}
	check("0: a4")
	record(l, writeOp("d/f", 4, "b", 2), writeOp("d/f", 0, "c", 1))
	check("0: a4", "0: a4 .2", "0: a4 b2", "0: c1 a3", "0: c1 a3 .2", "0: c1 a3 b2")
	record(l, Op{Kind: diskfile.SyncOp, Path: "d/f"})
	l.Mark()
	check("0: a4", "0: a4 .2", "0: a4 b2", "0: c1 a3", "0: c1 a3 .2", "0: c1 a3 b2", "1: c1 a3 b2")
	record(l, writeOp("d/f", 1, "d", 1), Op{Kind: diskfile.TruncateOp, Path: "d/f", Off: 3})
	check("0: a4", "0: a4 .2", "0: a4 b2", "0: c1 a3", "0: c1 a3 .2", "0: c1 a3 b2",
		"1: c1 a2", "1: c1 a3 b2", "1: c1 d1 a1", "1: c1 d1 a2 b2")
}

// TestReplace expects that without syncs a new file may take the place of the old one
// before it has its contents.
func TestReplace(t *testing.T) {
	ops := []Op{{Kind: diskfile.CreateOp, Path: "d/t"}, writeOp("d/t", 0, "n", 2), {Kind: diskfile.SyncOp, Path: "d/t"},
		{Kind: diskfile.RenameOp, Path: "d/t", To: "d/f"}, {Kind: diskfile.SyncDirOp, Path: "d"}}
	for _, test := range []struct {
		without diskfile.OpKind
		want    []string
	}{
		{-1, []string{"0: n2", "0: o1", "1: n2"}},
		{diskfile.SyncOp, []string{"0: ", "0: .2", "0: n2", "0: o1", "1: ", "1: .2", "1: n2"}},
		{diskfile.SyncDirOp, []string{"0: o1", "1: n2", "1: o1"}},
	} {
		for _, old := range []bool{true, false} {
			start := map[string][]byte{"d/f": []byte("o")}
			want := slices.Clone(test.want)
			if !old {
				start = nil
				for i := range want {
					want[i] = strings.ReplaceAll(want[i], "o1", "-")
				}
				slices.Sort(want)
			}
			l := NewLog(start)
			record(l, slices.DeleteFunc(slices.Clone(ops), func(op Op) bool { return op.Kind == test.without })...)
			l.Mark()
			if got := images(t, l, "d/f", Plan{All: 1 << 10}); !slices.Equal(got, want) {
				t.Errorf("without %v: %q, want %q", test.without, got, want)
			}
		}
	}
}

// TestRename goes on writing under the old name, and removes another file.
func TestRename(t *testing.T) {
	l := NewLog(map[string][]byte{"d/x": []byte("x")})
	record(l, Op{Kind: diskfile.CreateOp, Path: "d/t"}, Op{Kind: diskfile.RenameOp, Path: "d/t", To: "d/f"},
		Op{Kind: diskfile.SyncDirOp, Path: "d"},
		writeOp("d/t", 0, "n", 1), Op{Kind: diskfile.SyncOp, Path: "d/f"}, Op{Kind: diskfile.RemoveOp, Path: "d/x"})
	if got := images(t, l, "d/f", Plan{All: 4}); !slices.Equal(got, []string{"0: ", "0: -", "0: .1", "0: n1"}) {
		t.Errorf("%q", got)
	}
	if got := images(t, l, "d/x", Plan{All: 4}); !slices.Equal(got, []string{"0: -", "0: x1"}) {
		t.Errorf("%q", got)
	}
	record(l, writeOp("d/none", 0, "n", 1))
	if _, err := l.Sweep("d/f", Plan{}, func(*Image) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "operation 6, write none [0:1]") {
		t.Error(err)
	}
}

// TestMany expects of more combinations than are taken: all with one operation unlike the
// others, all subsets where they are few, and some at random.
func TestMany(t *testing.T) {
	for _, n := range []int{4, 9} {
		l := NewLog(map[string][]byte{"d/f": nil})
		for i := range n {
			record(l, writeOp("d/f", int64(512*i), string(rune('a'+i)), 1024))
		}
		got := map[string]bool{}
		for _, s := range images(t, l, "d/f", Plan{All: 16, Random: 100}) {
			got[strings.TrimPrefix(s, "0: ")] = true
		}
		for i := range n {
			alone := fmt.Sprintf("%c1024", 'a'+i)
			if i > 0 {
				alone = fmt.Sprintf(".%d ", 512*i) + alone
			}
			if !got[alone] {
				t.Errorf("%d writes: no image with write %d alone", n, i)
			}
		}
		// The writes overlap: without the second, its first half is of the first.
		if n == 4 && (!got["a1024 c512 d1024"] || !got["a512 b1024 d1024"]) {
			t.Errorf("%q", slices.Sorted(maps.Keys(got)))
		}
		if least := 4 * n; len(got) < least+30 {
			t.Errorf("%d writes: %d images", n, len(got))
		}
	}
}

func TestCuts(t *testing.T) {
	l := NewLog(map[string][]byte{"d/f": nil})
	for i := range 300 {
		record(l, writeOp("d/f", int64(i), "x", 1))
		if i%30 == 0 {
			record(l, Op{Kind: diskfile.SyncOp, Path: "d/f"})
			l.Mark()
		}
	}
	got := map[int]bool{}
	if err := l.images("d/f", Plan{Cuts: 50}, func(i *Image, _ bool) bool { got[i.Cut] = true; return true }); err != nil {
		t.Fatal(err)
	}
	around := 0 // syncs
	for k := range got {
		if k == len(l.Ops) || l.Ops[k].Kind == diskfile.SyncOp || k > 0 && l.Ops[k-1].Kind == diskfile.SyncOp {
			around++
		}
	}
	if len(got) < 30 || len(got) > 70 || !got[len(l.Ops)] || around < 10 {
		t.Errorf("%d cuts, %d of them around syncs", len(got), around)
	}
	got = map[int]bool{}
	if err := l.images("d/f", Plan{}, func(i *Image, _ bool) bool { got[i.Cut] = true; return true }); err != nil ||
		len(got) != len(l.Ops)+1 {
		t.Errorf("%d cuts, %v", len(got), err)
	}
}

func TestErrors(t *testing.T) {
	l := NewLog(nil)
	f := NewTarget(l, "f")
	for i := range 8 {
		if n, err := f.WriteAt([]byte("x"), int64(i)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	r, err := l.Sweep("f", Plan{All: 1 << 10}, func(i *Image) error {
		if len(i.Data) > 4 && i.Data[4] == 'x' {
			return errors.New("wrong")
		}
		return nil
	})
	if err != nil || r.Failed < 100 || r.Failed >= r.Checked || len(r.Errors) != maxErrors {
		t.Errorf("%+v, %v", r, err)
	}
	few, err := l.Sweep("f", Plan{All: 1 << 10, Failures: 1}, func(i *Image) error { return errors.New("wrong") })
	if err != nil || few.Failed == 0 || few.Checked > 100 {
		t.Errorf("%+v, %v: the sweep went on", few, err)
	}
	if s := r.Errors[0].Error(); !strings.Contains(s,
		"power cut after operation 5, 5 bytes, synced but for\n\twrite f [0:1]: ") || !strings.HasSuffix(s, ":\nwrong") {
		t.Error(s)
	}
}

func TestTarget(t *testing.T) {
	l := NewLog(map[string][]byte{"f": []byte("abc")})
	f := NewTarget(l, "f")
	if _, err := f.WriteAt([]byte("xy"), 2); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(3), f.Sync()); err != nil {
		t.Fatal(err)
	}
	l.Mark()
	b := make([]byte, 2)
	if n, err := f.ReadAt(b, 1); n != 2 || err != nil || string(b) != "bx" || f.Size() != 3 {
		t.Error(n, err, b, f.Size())
	}
	want := "   0 write f [2:4]\n   1 truncate f to 3\n   2 sync f\n---- acknowledged\n"
	if l.String() != want || l.Count(diskfile.SyncOp) != 1 {
		t.Errorf("%s", l)
	}
}

func TestFault(t *testing.T) {
	fails := errors.New("fails")
	ops := []Op{writeOp("f", 0, "x", 10), {Kind: diskfile.SyncOp, Path: "f"}, writeOp("f", 0, "x", 10),
		{Kind: diskfile.SyncOp, Path: "f"}}
	for at := range 6 {
		f := Fault{At: at, Err: fails, Share: 0.5, Log: NewLog(map[string][]byte{"f": nil})}
		for i, op := range ops {
			n, err := f.Hook(op)
			if want := len(op.Data); i == at && (!errors.Is(err, fails) || n != want/2) || i != at && (err != nil || n != want) {
				t.Errorf("fault %d, operation %d: %d, %v", at, i, n, err)
			}
		}
		if (f.Op != nil) != (at < 4) || f.Retried() != (at == 1) {
			t.Errorf("fault %d: %+v", at, &f)
		}
		want := len(ops)
		if at < 4 && ops[at].Kind == diskfile.SyncOp {
			want-- // it was not done
		}
		if len(f.Log.Ops) != want || at == 2 && len(f.Log.Ops[2].Data) != 5 {
			t.Errorf("fault %d: done was\n%v", at, f.Log)
		}
	}
}
