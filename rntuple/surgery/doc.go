// Package surgery makes RNTuples out of others. Values are not decoded where that can
// be avoided: pages are copied as they are stored, recompressed or encoded anew,
// whichever is the least that is needed. Only where clusters are cut or joined are
// elements moved one by one, column by column.
//
// Where both files are on one file system that can clone blocks (btrfs, XFS and others
// on Linux), pages are not even copied; see [Clone].
//
// Inputs are never written to, and an output file appears complete or not at all. What
// is copied or cloned is read and verified; Read.SkipChecksums of Options leaves that
// out, and then what is cloned is not read at all.
//
// An error that concerns one input, which cannot be read or is damaged, wraps a
// *rntuple.InputError, so that a program can leave that input out and begin anew.
//
// Each operation has a struct with its options, and nil stands for the defaults. What an
// operation cannot honour is an error, before anything is written.
//
// All functions use as many goroutines as Write.Workers of Options says. The memory they
// need depends neither on the number of inputs nor on their size: it is that of two
// clusters of the output and of the metadata of one input.
//
// Source: ROOT's document on merging, "RNTuple merging process".
package surgery
