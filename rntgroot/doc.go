// Package rntgroot connects RNTuples with groot, the Go implementation of ROOT's
// input and output in go-hep.
//
// Open reads an RNTuple from a file that groot has opened. Importing this
// package also registers the class ROOT::RNTuple with groot, so that Get finds
// RNTuples like any other object:
//
//	f, err := groot.Open("file.root")
//	obj, err := riofs.Dir(f).Get("dir/Events")
//	r, err := obj.(*rntgroot.RNTuple).Open()
//
// # Objects written by ROOT's streamers
//
// RNTuples store most classes member by member. Objects that cannot be stored this way, such
// as histograms, are stored as the bytes that ROOT's streamer writes. Package rntuple reads
// these as []byte; the field's TypeName in the schema is the class. ViewOf reads the objects
// instead, and a Decoder decodes bytes from elsewhere, such as dynamic values:
//
//   - An object of a class for which groot has a Go type has that type: a TH1D is a
//     *rhist.H1D.
//   - An object of another class is an *Object with the members that the streamer
//     information in the RNTuple lists.
//   - A container of the standard library is a dynamic value, see package value.
//
// If the file has no information on a class in an object, decoding the object returns an
// error that wraps rntuple.ErrUnsupported: ROOT omits classes that occur only as items of
// containers.
//
// groot trusts its input: a number of items in damaged bytes can make it allocate gigabytes.
// Objects of its classes are better left as bytes if the file is not trusted. All others are
// checked like the rest of the file.
package rntgroot
