// Package surgery creates RNTuples from others: it merges, cuts, filters, re-encodes and renames.
// It avoids decoding values: pages are copied as stored, recompressed or re-encoded, whichever is
// the least work. Only where clusters are cut or joined are individual elements copied, column by
// column.
//
// If both files are on the same file system and it supports block cloning (btrfs, XFS and others on
// Linux), pages are not even copied; see [Clone].
//
// Inputs are never modified, and an output file appears complete or not at all. Pages that are
// copied or cloned are read and their checksums verified, unless Options.Read.SkipChecksums is set;
// cloned pages are then not read at all.
//
// An error about a single input that is unreadable or damaged wraps a *rntuple.InputError, so that
// a program can retry without this input.
//
// Each operation has its own options struct; nil selects the defaults. Options that an operation
// does not support are an error before anything is written.
//
// All functions use up to Options.Write.Workers goroutines. Their memory usage is independent of
// the number and size of inputs: two clusters of the output and the metadata of one input.
//
// Source: ROOT's document on merging, "RNTuple merging process".
package surgery
