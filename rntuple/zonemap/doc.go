// Package zonemap has the types of zone maps: for each cluster of an RNTuple and some of its
// fields, the least and the greatest value, and whether there are NaNs. Where these bounds decide a
// condition for all entries of a cluster, its pages need not be read to evaluate it: conditions of
// package expression use zone maps by themselves. The method ZoneMap of a rntuple.Reader returns a
// zone map, and rntuple.Possible applies the zone maps of any source to conditions of one's own.
//
// A zone map is an attribute set, which this project has a convention for; the file
// docs/reference/zonemaps.md describes it. It is made by surgery.Index, or when an
// RNTuple is written with WriteOptions.ZoneMap of package rntuple, and kept up by package
// surgery. Other programs read the file as before.
//
// Conditions believe a zone map as they believe the data, without a look at the values: a map that
// lies hides entries, or lets wrong ones through. Those of files at URLs are used only with
// rntuple.TrustAll. Package verify compares maps with the values.
//
// A zone map that does not fit its RNTuple must not hide entries: each of its attributes
// says where the pages are that it was made from. Those that say otherwise than the page
// lists are ignored, which Problems of a Map reports.
package zonemap
