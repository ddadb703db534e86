// Package remote reads and writes remote files: on web servers, in object stores and on XRootD
// servers.
//
// Each protocol is implemented by its own package, which registers URL schemes. Programs import the
// packages that they need for this side effect:
//
//	import (
//		"github.com/go-rntuple/go-rntuple/rntuple"
//		_ "github.com/go-rntuple/go-rntuple/remote/https"  // http and https
//		_ "github.com/go-rntuple/go-rntuple/remote/xrootd" // root, roots and xroot
//	)
//
//	r, err := rntuple.Open("https://example.org/data.root", "Events", nil)
//
// Package rntuple accepts URLs with these schemes wherever it accepts the name of a file to read.
// It determines in advance which pages it needs, and fetches them in few, concurrent requests; see
// docs/guides/remote.md.
//
// Some protocols also support writing. Packages rntuple and surgery accept such URLs for output
// files, which are first written to the temporary folder; Upload uploads any other file.
//
// URLs with some schemes, such as ntpl+s3+https, refer not to files but to RNTuples whose pages are
// stored as objects of an object store. Package rntuple reads them, too. This is experimental; see
// docs/guides/remote.md.
//
// This package implements what the protocols have in common: it retries requests after temporary
// failures, cancels requests that stall, ensures that all bytes are from the same version of a
// file, measures the latency and bandwidth of requests, limits their number per host, collects
// statistics, and optionally caches data on disk.
package remote
