// Package source opens what commands read entries from: RNTuples, several one after the other,
// and files of other kinds, of which it makes temporary RNTuples. It leaves out bad files, for
// the flag --skip-bad.
package source
