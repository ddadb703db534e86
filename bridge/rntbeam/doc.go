// Package rntbeam reads and writes RNTuples in pipelines of Apache Beam, on Flink, on any other
// runner supported by the Go SDK, or within the program:
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
// Import the package of the runner, such as runners/prism of the SDK, to link it. Paths must be
// valid on all workers.
//
// # Reading
//
// Read, ReadAll and ReadPlan are splittable: files are divided at cluster boundaries into parts
// with about 64 MiB of the columns that are read, and runners with dynamic splitting can split a
// part while it is read. Only the columns selected by the struct or ReadOptions.Fields are read,
// and of those only pages with matching entries. One worker reads the metadata of a file; if
// another worker finds that the file has changed since, it returns an error that wraps
// workunits.ErrChanged.
//
// Entries are structs, with the tags of rntuple.Entries, or dynamic values of type value.Record. A
// Batch is a reference to the entries of one or a few clusters; the worker that receives it reads
// them in columnar form.
//
// To read URLs, import the package of their protocol, see package remote. To read other file
// formats, import the package that registers the format: rntbeam/parquet or rntbeam/ttree.
//
// # Writing
//
// Runners retry work when a worker fails, and some run it twice concurrently. Write and
// WriteOrdered therefore write each bundle to a temporary file in a folder beside the output. When
// all bundles are complete, a step after a GroupByKey assigns bundles to outputs; only then are the
// outputs renamed, one by one, and the folder removed. So each entry is written exactly once,
// despite retries. A failed pipeline leaves the folder behind, and no output unless it fails while
// outputs are being renamed.
//
// # Types
//
// Types must be registered in an init function, because workers are separate processes. Their
// exported fields are transferred between workers by an exact coder, independent of the file
// format: NaN bits are preserved, and nil slices are distinct from empty ones.
//
// # Metrics
//
// The counters files, parts, entries_read and bytes_read count input; bytes are the stored bytes of
// the columns that are read. files_written counts outputs, entries_written and bytes_written the
// contents of temporary files, and pages_copied and pages_rewritten how these were merged. The
// distributions block_entries and bundle_entries are the numbers of entries per read block and per
// written bundle. All are in the namespace "rntbeam".
//
// # Errors
//
// Invalid options panic when the pipeline is constructed, as in package beam. Other errors are
// returned by the pipeline, with the stack traces of workers in their text; Cause returns the line
// that names the file.
package rntbeam
