package diskfile

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// removeOrphans removes temporary files in dir whose writers have died: nobody has
// locked them. Those of other machines must be a day old as well. Errors do not matter; the
// next writer tries again.
func removeOrphans(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1000)
		for _, name := range names {
			if ok, _ := filepath.Match(prefix+"????????????????????????"+suffix, name); ok {
				removeOrphan(dir + name)
			}
		}
		if err != nil {
			return
		}
	}
}

func removeOrphan(name string) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if !strings.HasPrefix(filepath.Base(name), prefix+host()) && time.Since(info.ModTime()) < 24*time.Hour {
		return
	}
	guard, err := tryLock(name)
	if err != nil || guard == nil {
		return
	}
	defer guard.Close()
	if _, err := call(Op{Kind: RemoveOp, Path: name}); err == nil {
		os.Remove(name)
	}
}
