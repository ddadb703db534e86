// Package rntflight serves the RNTuples in the files below a folder as Arrow Flight streams, which
// pyarrow, Spark, Dask and other Flight clients read over the network.
//
// # Requests
//
// Files are named by their slash-separated path relative to the folder. A descriptor is either the
// path ["2024/run1.root", "Events"], whose second element may be omitted if the file has one
// RNTuple at its top level, or a command, which is a Query as JSON:
//
//	{"file": "2024/run1.root", "ntuple": "Events", "fields": ["run", "Muon_*"], "where": "nMuon == 2"}
//
// GetSchema returns the schema that package rntarrow derives from the fields. GetFlightInfo returns
// the schema and an endpoint for each range of entries: clusters are combined, and large ones are
// cut, into ranges of about equal size, at least about 100,000 entries or 16 MiB. The endpoints are
// in the order of the entries, and their tickets are Queries with a range, so clients can read in
// parallel by redeeming the tickets in any order at the same service. Clients may also construct
// tickets themselves. With a condition, the number of records is -1, and ranges excluded by a zone
// map have no endpoint.
// Tickets of GetFlightInfo are bound to the version of the file: if it changes, DoGet fails with
// FailedPrecondition.
//
// ListFlights lists the RNTuples of the regular files below the folder; links to folders are not
// followed. The criteria are a path.Match pattern for file names; a pattern without a slash matches
// the last element. A flight has one endpoint, for all entries. A flight for an unreadable file has
// no endpoint, and its metadata contains the reason as JSON: {"error": "…"}. The service is
// read-only: DoPut, DoExchange and actions fail with Unimplemented.
//
// # Errors
//
// Clients receive the following codes. Error messages contain only paths relative to the folder:
//
//	InvalidArgument     a malformed request, an unknown field, a condition that does not fit
//	OutOfRange          entries that the RNTuple does not have
//	Unauthenticated     no token, or a wrong one
//	PermissionDenied    a name that leads out of the folder, a file that may not be read
//	NotFound            no such file or RNTuple; links that lead out of the folder
//	FailedPrecondition  the file has changed since GetFlightInfo
//	Unimplemented       fields that have no type in Arrow, features that are not supported
//	DataLoss            the file is damaged
//	ResourceExhausted   too many streams, too much memory
//	DeadlineExceeded    the stream took too long, or the client took no data
//	Unavailable         the server shuts down
//
// An error in the middle of a stream ends it with that code, so a client never mistakes a partial
// stream for a complete one.
//
// # Limits
//
// At most Options.MaxStreams streams are sent at a time. Others are queued for up to
// Options.Timeout; a stream is rejected immediately if 16 times as many are already queued. A
// stream is ended if its client receives no data for Options.Timeout, or if it lasts longer than
// Options.MaxTime. The memory of a stream is one record batch, of Options.BatchBytes or one larger
// entry; 8 MiB of prefetched pages; and the current page of each column. Data that a client has not
// received stays in memory until it disconnects, for at most Options.MaxStreams streams; beyond
// that, the oldest of these clients is disconnected.
//
// # Security
//
// Files are opened through an os.Root, so paths and links cannot escape the folder, and only
// regular files are opened. With Options.Tokens, every request must carry one of the tokens in the
// header "authorization: Bearer TOKEN". Server.Serve returns an error for an address other than
// loopback unless both TLS and tokens are configured. On a multi-user machine, loopback is
// accessible to all users: use tokens there, too.
package rntflight
