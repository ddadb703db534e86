// Package rntgroot integrates RNTuples with groot, go-hep's implementation of ROOT I/O, and
// converts TTrees to RNTuples.
//
// Open opens an RNTuple in a file opened by groot. Importing this package also registers the class
// ROOT::RNTuple with groot, so that Get returns RNTuples like any other object:
//
//	f, err := groot.Open("file.root")
//	obj, err := riofs.Dir(f).Get("dir/Events")
//	r, err := obj.(*rntgroot.RNTuple).Open()
//
// # Objects written by ROOT's streamers
//
// RNTuples store most classes member by member. Objects that cannot be stored this way, such as
// histograms, are stored as the bytes that ROOT's streamer writes. Package rntuple reads these as
// []byte; the field's TypeName in the schema is the class. ViewOf decodes them to objects, and a
// Decoder decodes bytes from other sources, such as dynamic values:
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
// groot trusts its input: a corrupt length can make it allocate gigabytes. Do not decode objects of
// its classes from untrusted files. All other objects are validated like the rest of the file.
//
// # TTrees
//
// OpenTree opens a TTree, or a chain of them, and CreateFromTree converts it to an RNTuple with the
// same fields as ROOT's RNTupleImporter:
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
// Arrays with the same counter become one untyped collection of records, named _collection0,
// _collection1 … in the order of the counters' names. Projected fields have the names of the
// arrays, and a cardinality field has the name of the counter. With TreeOptions.Flat, each array is
// instead a std::vector, and the counter a number.
//
// Records and collections are untyped if ROOT could not read them as their class: if an object has
// members without an RNTuple type, such as a TString, or if its class belongs to ROOT, such as
// TLorentzVector. Dots in names become underscores. Branch titles and member comments become
// descriptions. Friends, indexes and aliases of a tree are ignored.
//
// Unsupported branches cause an error before anything is written: pointers, TRefs, an unsplit
// TClonesArray, classes without streamer information in the file, and branches whose first entry
// does not match their type. This package decodes all baskets itself: every byte of every entry
// must be accounted for, and the lengths of arrays must match their counters.
package rntgroot
