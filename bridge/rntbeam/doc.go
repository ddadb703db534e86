// Package rntbeam reads and writes RNTuples in pipelines of Apache Beam, on Flink, on any other
// runner that the Go SDK knows, or within the program:
//
//	type Event struct {
//		Pt []float32 `rntuple:"Muon_pt"`
//	}
//
//	func init() { rntbeam.Register[Event]() }
//
//	p, s := beam.NewPipelineWithRoot()
//	events := rntbeam.Read[Event](s, "data/*.root", rntbeam.ReadOptions{Where: "nMuon == 2"})
//	rntbeam.Write[Event](s, "pairs.root", events, rntbeam.WriteOptions{Shards: 1})
//	_, err := beam.Run(ctx, "prism", p)
//
// The runner is linked by importing it, such as runners/prism of the SDK, and paths are those that
// all workers see.
//
// # Reading
//
// Read, ReadAll and ReadPlan are splittable: files are cut where clusters end, into parts of about
// 64 MiB of the columns that are read, and runners that split work as it runs cut a part again
// while it is read. Only the columns that a struct or ReadOptions.Fields name are read, and of
// those only the pages with entries that meet the condition. The metadata of a file are read by one
// worker; another one that finds the file changed returns an error that wraps units.ErrChanged.
//
// The entries are structs, as rntuple.Entries takes them, or dynamic values of the type
// value.Record. A Batch stands for the entries of a cluster or a few, which are read where it
// arrives, in columnar form.
//
// Files at URLs are read if the package of their protocol is imported, see package remote. Files of
// other formats are read if the package that registers the format is: rntbeam/parquet and
// rntbeam/ttree.
//
// # Writing
//
// Runners run the same work again when a worker fails, and some run it twice at the same time.
// Write and WriteOrdered write each bundle to a file of its own, in a folder beside the output.
// When all bundles are complete, a step after a grouping decides which of them make up which
// output; only then do outputs get their names, one by one, and the folder goes away. So each entry
// is in one file, once. A pipeline that fails leaves the folder behind, and no output unless it
// fails when some of them have their names already.
//
// # Types
//
// A type must be registered in an init function, because workers are other processes. Its exported
// fields travel between workers, in an exact form that has nothing to do with files: the bits of a
// NaN, nil and empty slices stay what they are.
//
// # Metrics
//
// The counters files, parts, entries_read and bytes_read count what was read, bytes as stored, of
// the columns that are read; files_written counts outputs, entries_written and bytes_written what
// temporary files have, pages_copied and pages_rewritten how they were merged. The distributions
// block_entries and bundle_entries have the entries that were read and written as one. All are in
// the namespace "rntbeam".
//
// # Errors
//
// Options that cannot work are a panic when the pipeline is built, as in package beam. Other errors
// are those of the pipeline, whose text has the stacks of workers; Cause returns the line that
// names the file.
package rntbeam
