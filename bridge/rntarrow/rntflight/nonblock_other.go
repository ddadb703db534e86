//go:build !unix

package rntflight

const nonblock = 0
