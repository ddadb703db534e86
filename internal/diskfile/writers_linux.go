package diskfile

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// OtherWriters returns the other processes that have the file open for writing: those
// that do not know its lock, such as ROOT, because this package never has a file open
// for writing without it. It cannot look into processes of other users or machines. It
// takes about 2 ms for 100 processes with 1,000 descriptors.
func (f *File) OtherWriters() []Process {
	found := f.scan()
	if len(found) == 0 {
		return nil
	}
	// A child of this process has its descriptors until it executes its program.
	time.Sleep(10 * time.Millisecond)
	return f.scan()
}

func (f *File) scan() (found []Process) {
	mine, err := f.disk.Stat()
	if err != nil {
		return nil
	}
	processes, err := readNames("/proc")
	if err != nil {
		return nil
	}
	for _, name := range processes {
		id, err := strconv.Atoi(name)
		if err != nil || id == os.Getpid() {
			continue
		}
		process := filepath.Join("/proc", name)
		descriptors, err := readNames(filepath.Join(process, "fd"))
		if err != nil {
			continue // it has ended, or is not ours
		}
		for _, fd := range descriptors {
			// The link has the permissions of the descriptor, and is asked first because
			// to follow it may mean to wait for another machine.
			link := filepath.Join(process, "fd", fd)
			if info, err := os.Lstat(link); err != nil || info.Mode().Perm()&0o200 == 0 {
				continue
			}
			if to, err := os.Readlink(link); err != nil || !strings.HasPrefix(to, "/") {
				continue // a pipe or a socket
			}
			if info, err := os.Stat(link); err == nil && os.SameFile(info, mine) {
				command, _ := os.ReadFile(filepath.Join(process, "comm"))
				found = append(found, Process{id, strings.TrimSpace(string(command))})
				break
			}
		}
	}
	return found
}

func readNames(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}
