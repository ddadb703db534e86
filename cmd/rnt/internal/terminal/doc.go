// Package terminal tells whether a stream is a terminal, and how large it is.
package terminal
