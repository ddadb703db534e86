// Package rntflight serves the RNTuples in the files below one folder as Arrow Flight streams, so
// that pyarrow, Spark, Dask and all else that speaks Flight read them over a network.
//
// # Requests
//
// A file is named by its path below the folder, with slashes. A descriptor is either the path
// ["2024/run1.root", "Events"], whose second element may be left out if the file has one RNTuple
// at its top level, or a command, which is a Query as JSON:
//
//	{"file": "2024/run1.root", "ntuple": "Events", "fields": ["run", "Muon_*"], "where": "nMuon == 2"}
//
// GetSchema answers with the schema that package rntarrow gives the fields, GetFlightInfo with the
// schema and an endpoint for each unit of entries: clusters, joined to parts of about equal size,
// which is at least about 100,000 entries or 16 MiB. The endpoints are in the order of the entries,
// and their tickets are Queries with a range. So clients read in parallel by redeeming the tickets
// as they like, at the same service. A program may make tickets itself. With a condition the number
// of records is -1, and there are no endpoints for units that a zone map rules out. Tickets of
// GetFlightInfo are for the file as it was then: if it changes, DoGet fails with
// FailedPrecondition.
//
// ListFlights lists the RNTuples of the regular files below the folder; links to folders are not
// followed. The criteria are a pattern of path.Match for the names of files; one without a slash
// is for the last element. A flight has one endpoint, for all entries. One that cannot be read
// has none, and the reason as JSON in its metadata: {"error": "…"}. The service is
// read-only: DoPut, DoExchange and actions get the code Unimplemented.
//
// # Errors
//
// Clients get errors with these codes, in whose texts files have their names below the folder:
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
// An error in the middle ends the stream with its code, never as if the entries had ended.
//
// # Limits
//
// Options.MaxStreams streams are sent at a time. Others wait for their turn, up to
// Options.Timeout; a stream is refused at once if 16 times as many wait already. A stream whose
// client takes no data for Options.Timeout is ended, as is one that lasts longer than
// Options.MaxTime. A stream holds one record batch, of Options.BatchBytes or of one entry if that
// is larger; 8 MiB of pages read ahead; and the current page of each column. What a client did not
// take stays in memory until it disconnects, for as many streams; then the first of these clients
// is disconnected.
//
// # Security
//
// Files are opened through an os.Root, so no path and no link leads out of the folder, and nothing
// but regular files is opened. With Options.Tokens every request must carry one of them, in the
// header "authorization: Bearer TOKEN". Server.Serve refuses to serve an address other than
// loopback without both TLS and tokens. On a machine with several users, loopback is open to all
// of them: use tokens there, too.
package rntflight
