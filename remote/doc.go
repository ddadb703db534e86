// Package remote reads files that are far away: on web servers, in object stores, behind XRootD.
//
// Each protocol is a package of its own, which registers the schemes of its URLs; programs import
// those that they need, for their effect:
//
//	import (
//		"github.com/go-rntuple/go-rntuple/rntuple"
//		_ "github.com/go-rntuple/go-rntuple/remote/https"  // http and https
//		_ "github.com/go-rntuple/go-rntuple/remote/xrootd" // root, roots and xroot
//	)
//
//	r, err := rntuple.Open("https://example.org/data.root", "Events", nil)
//
// Package rntuple takes URLs of these schemes wherever it takes the name of a file to read. It
// plans which pages it will need, and asks for their bytes in few requests, several at a time: see
// docs/guides/remote.md.
//
// Some protocols write files, too: package rntuple and surgery take such URLs for the files that
// they make, which are written to the folder for temporary files first, and Upload writes any
// other.
//
// URLs of some schemes, as ntpl+s3+https, are not of files but of RNTuples whose pages are objects
// of a store: package rntuple reads them, too. That is experimental; see docs/guides/remote.md.
//
// This package is what the protocols have in common: it repeats requests that failed for now, gives
// up those that stall, makes sure that all bytes are of the same version of a file, measures what
// requests cost, limits how many there are for a host, counts them, and keeps bytes on disk if
// asked to.
package remote
