package cli

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// takePending has the signals handled that the kernel has for the process, but no thread
// has taken yet. Before a thread that gets a signal of its own goes on, it also takes those
// of the process. The Go runtime expects SIGURG at any time.
func takePending() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGURG)
}
