// Package terminal reports whether a stream is a terminal, and its size.
package terminal
