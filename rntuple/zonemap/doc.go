// Package zonemap defines the types of zone maps. A zone map contains the minimum and maximum of
// some fields in each cluster of an RNTuple, and whether they contain NaNs. If these bounds
// determine a condition for all entries of a cluster, the condition can be evaluated without
// reading its pages: conditions of package expression use zone maps automatically.
// rntuple.Reader.ZoneMap returns a zone map, and rntuple.Possible applies the zone maps of any
// source to custom conditions.
//
// A zone map is stored as an attribute set, by a convention of this project that
// docs/reference/zonemaps.md describes. It is created by surgery.Index, or during writing with
// rntuple.WriteOptions.ZoneMap, and maintained by package surgery. Other programs can still read
// the file.
//
// Conditions trust a zone map like the data itself, without checking the values: an incorrect map
// hides matching entries or accepts wrong ones. Zone maps of remote files are therefore used only
// with rntuple.TrustAll. Package verify compares zone maps with the values.
//
// A stale zone map must not hide entries: each of its attributes records the positions of the pages
// that it was computed from. Attributes that do not match the page lists are ignored, and reported
// by Map.Problems.
package zonemap
