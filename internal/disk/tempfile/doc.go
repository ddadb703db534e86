// Package tempfile keeps track of the temporary files of the process, so that a program can remove
// them when it must exit immediately, whatever its goroutines are doing.
package tempfile
