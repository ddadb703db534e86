//go:build !unix

package regular

const nonblock, noFollow = 0, 0
