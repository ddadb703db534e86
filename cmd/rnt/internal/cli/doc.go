// Package cli is what the commands of rnt share. A [Tool] is one run of the program. Its
// [Input] finds the files that arguments name, its [Output] makes files so that they appear
// whole or not at all, and its [Reporter] prints messages and progress. The package parses
// flags and arguments, completes them in shells, listens for signals, and turns errors
// into exit statuses.
package cli
