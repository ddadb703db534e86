// Package cli provides what all commands of rnt share. A [Tool] is one run of the program. Its
// [Input] resolves the files named by arguments, its [Output] writes files atomically, and its
// [Reporter] prints messages and progress. The package parses flags and arguments, provides shell
// completion, handles signals, and converts errors to exit statuses.
package cli
