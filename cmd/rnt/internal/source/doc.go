// Package source opens the inputs from which commands read entries: RNTuples, chains of them, and
// files of other formats, which it converts to temporary RNTuples. It implements the flag
// --skip-bad.
package source
