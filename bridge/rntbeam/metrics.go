package rntbeam

import "github.com/apache/beam/sdks/v2/go/pkg/beam"

// The metrics of the namespace "rntbeam".
var (
	files        = beam.NewCounter("rntbeam", "files") // of which the first entry has been read
	parts        = beam.NewCounter("rntbeam", "parts") // of files, read by a worker each
	entriesRead  = beam.NewCounter("rntbeam", "entries_read")
	bytesRead    = beam.NewCounter("rntbeam", "bytes_read") // as stored, of the wanted columns
	blockEntries = beam.NewDistribution("rntbeam", "block_entries")

	filesWritten   = beam.NewCounter("rntbeam", "files_written")
	entriesWritten = beam.NewCounter("rntbeam", "entries_written")
	bytesWritten   = beam.NewCounter("rntbeam", "bytes_written")
	pagesCopied    = beam.NewCounter("rntbeam", "pages_copied") // by merging
	pagesRewritten = beam.NewCounter("rntbeam", "pages_rewritten")
	bundleEntries  = beam.NewDistribution("rntbeam", "bundle_entries")
)
