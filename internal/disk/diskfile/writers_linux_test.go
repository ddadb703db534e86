package diskfile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOtherWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "old")
	link := path + "2"
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	f, err := Update(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mine, err := os.OpenFile(path, os.O_RDWR, 0) // another descriptor of this process
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	var want []int
	for _, c := range []struct {
		job, path string
		found     bool
	}{
		{"read", path, false}, {"wait", path, false}, {"write", path, true},
		{"read and write", path, true}, {"write", link, true},
	} {
		cmd, _ := child(t, c.job, c.path)
		if c.found {
			want = append(want, cmd.Process.Pid)
			slices.Sort(want)
		}
		if got := ids(f.OtherWriters()); !slices.Equal(got, want) {
			t.Errorf("with %q: processes %v, want %v", c.job, got, want)
		}
	}
	err = f.CheckAlone()
	command := filepath.Base(os.Args[0])
	if !errors.Is(err, ErrOpenElsewhere) ||
		!strings.Contains(err.Error(), "("+command[:min(len(command), 15)]+") has the file open for writing") {
		t.Error(err)
	}
}
