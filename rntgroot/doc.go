// Package rntgroot connects RNTuples with groot, the Go implementation of ROOT's
// input and output in go-hep.
//
// Open reads an RNTuple out of a file that groot has open. Importing this
// package also registers the class ROOT::RNTuple with groot, so that Get finds
// RNTuples like any other object:
//
//	f, err := groot.Open("file.root")
//	obj, err := riofs.Dir(f).Get("dir/Events")
//	r, err := obj.(*rntgroot.RNTuple).Open()
//
// # Objects written by ROOT's streamers
//
// RNTuples store most classes member by member. What cannot be stored so,
// histograms for one, is there as the bytes that ROOT's streamer wrote for every
// object. Package rntuple reads them as []byte; the field's TypeName in the
// schema is their class. ViewOf reads the objects, and a Decoder makes objects of
// bytes that come from elsewhere, such as dynamic values:
//
//   - of a class that groot has a Go type for, of that type: a TH1D is a
//     *rhist.H1D;
//   - of another class, an *Object with the members that the file's streamer
//     information lists: RNTuples bring it along;
//   - of a container of the standard library, what package value says.
//
// An object is refused, with an error that wraps rntuple.ErrUnsupported, if the
// file says nothing about a class in it: ROOT leaves out classes that only occur
// as items of containers.
//
// groot trusts what it reads: a count of items in damaged bytes can make it
// allocate gigabytes. Objects of its classes from a file that you do not trust
// are better left as bytes. All others are checked like the rest of the file.
package rntgroot
