// Package tempfile knows the temporary files of the process, so that a program that
// must end at once, whatever its goroutines are doing, can remove them.
package tempfile
