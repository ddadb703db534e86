// Package rntgroot connects RNTuples with groot, the Go implementation of ROOT's
// input and output in go-hep, and converts TTrees to RNTuples.
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
//
// # TTrees
//
// OpenTree opens a TTree, or a chain of them, and CreateFromTree makes an RNTuple of it with the
// fields that ROOT's RNTupleImporter makes:
//
//	branch or member                      field
//	numbers, bool                         the same type
//	Double32_t; with a range              Double32_t; double, which keeps all digits
//	Float16_t                             float
//	C string, std::string, TString        std::string
//	list of leaves                        untyped record
//	array x[2][3]                         std::array<std::array<T,3>,2>
//	array x[n], x[n][3]                   see below; std::vector<std::array<T,3>>
//	vector, set, map …                    the same type; list and deque: std::vector
//	TClonesArray, split                   std::vector
//	object, split or not                  record of its class: base classes are :_0, :_1 …
//	enum in an object                     the same type, of std::int32_t
//	T *x; //[n] in an object              std::vector<T>
//
// Arrays of the same variable length become one untyped collection of records, named
// _collection0, _collection1 … in the order of the names of their counters. Projected fields have
// the names of the arrays, and a cardinality that of the counter. With TreeOptions.Flat, each array
// is a std::vector, and the counter a number, instead.
//
// Records and collections are untyped where ROOT could not read them by their type: if an object
// has members that RNTuples do not store by their type in C++, such as a TString, or if its class
// is one of ROOT's own, such as TLorentzVector. Dots in names become underscores. Titles of
// branches and comments of members become descriptions. Friends, indexes and aliases of a tree are
// ignored.
//
// What cannot be read is refused before anything is written: pointers, TRefs, a TClonesArray that
// is not split, classes that the file has no streamer information about, and branches of which
// the first entry has other bytes than its type says. All baskets are read by this package: every
// byte of every entry must be accounted for, and arrays must have the lengths that their
// counters say.
package rntgroot
