//go:build unix

package regular

import "syscall"

const nonblock, noFollow = syscall.O_NONBLOCK, syscall.O_NOFOLLOW
