// Package rntuple reads and writes RNTuples, the columnar data sets of CERN's
// ROOT, without ROOT.
//
// Create writes an RNTuple from structs, CreateRecords from dynamic values and
// CreateColumns from slices; with Fillers, several goroutines write one RNTuple. Open
// returns a Reader of one RNTuple in a file. It is read
//
//   - field by field, with ViewOf and JaggedOf: values of a Go type, or for
//     collections one flat slice and the bounds of the entries in it;
//   - many fields at once in columnar form, with Batches: trees of plain slices,
//     without Go types;
//   - entry by entry into a struct, with Entries;
//   - without Go types, as the dynamic values of package value, with RecordsOf,
//     or with the type any in place of every other one.
//
// Fold runs any of these in several goroutines, and joins their results in order.
//
// All of these also read from several files: from a Chain, one after the other, and from a
// Join, side by side or matched by the values of fields. Where selects entries by a
// Condition; of a Selection, only the pages with its entries are read.
//
// # Options
//
// Functions take their options as a pointer to a struct and copy it. A nil pointer stands for
// the defaults, and so does the zero value of each member. Options that a function cannot
// honour are an error.
//
// Views, loops and batches return the error of the context of their Source once it is done:
// that of ReadOptions.Context, or of its method WithContext.
//
// # Types
//
// Fields and Go types correspond as follows:
//
//	bool, std::int8_t … std::uint64_t      bool, int8 … uint64; types derived from them, such as time.Duration
//	char, std::byte                        int8, byte
//	float, double, Double32_t              float32, float64, float64
//	std::int64_t                           time.Time, see below
//	enum, std::atomic                      the type of the underlying value
//	std::string                            string, []byte
//	vector, RVec, sets, collections        []T; set and unordered_set also map[T]struct{}
//	std::array, T[N]                       [N]T, []T
//	std::bitset                            [N]bool, []bool, lowest bit first
//	optional, unique_ptr                   *T, []T
//	map, unordered_map                     map[K]V, or []struct with `rntuple:"_0"`, `rntuple:"_1"`
//	multimaps                              []struct as above
//	pair, tuple                            struct with `rntuple:"_0"`, `rntuple:"_1"` …
//	classes, untyped records               struct; base classes are `rntuple:":_0"` …
//	ROOT::RNTupleCardinality               uint64
//	objects written by ROOT's streamers    []byte
//	variant, and all of the above          any
//
// Readers accept other types where ROOT does, see docs/guides/evolution.md: any integer type
// or bool takes any integer, a float type any float, *T a plain value. A value that
// does not fit is a *schema.ConversionError, which names the entry.
//
// Writers turn a slice into a std::vector, an array into a std::array, a pointer into a
// std::optional, and a map into a std::map, or into a std::set if its elements are
// struct{}. Package cpp has Go types for the other C++ types. A field of type any is
// written by the type= in its tag; package value describes its values.
//
// # Structs and their tags
//
// The exported fields of a struct stand for fields of the RNTuple, or members of a
// class or record. A field of a struct that is embedded without a tag counts as a
// field of the struct around it. The same tags serve readers and writers:
//
//	`rntuple:"name,option,option=value"`
//
// The name may be empty: the field is then called as in Go. For readers it may be a
// path, as ViewOf takes it. The name "-", without options, leaves the field out. These
// are all the options; readers use the first two and ignore the others:
//
//	optional               if there is no such field, the value is zero; else it is an error
//	time=us                the unit of a time.Time in the file: ns, us, ms or s; default ns
//	type=char              the C++ type, of those in the standard library
//	class=Vertex           the C++ class of a struct
//	enum=Color             an enum whose underlying type is that of the Go field
//	encoding=Real16        the type of the column
//	trunc=16               the upper 16 bits of a float, cut and not rounded
//	quant=12,min=-5,max=5  12 bits for this range; writing a value outside of it is an error
//	desc=momentum in GeV   the description; it takes all that follows, so it is the last option
//
// ROOT reads a field with an enum only where the enum is known, from a dictionary or a
// declaration. Elsewhere its RDataFrame leaves the column out, and RNTupleReader.Show
// throws; where it is only declared, RDataFrame of ROOT 6.40 still fails to read it. An
// integer without the option enum, with its meanings in desc, is read everywhere.
//
// Options that are unknown, are given twice, contradict each other or say nothing
// about the Go type are an error, which names the Go field. So is a struct that has
// fields but exports none, such as sync.Mutex or netip.Addr: of its values nothing
// would be stored.
//
// # Times
//
// A time.Time is a std::int64_t: the nanoseconds since 1970-01-01 UTC, which reach
// from 1677 to 2262, or what the option time says. If the tag has no description, the
// field's description states the unit; readers do not look at it. The time is cut to
// the unit, its location is lost, and it is read back in UTC. A time that does not
// fit, such as the zero time.Time in nanoseconds, is an error that wraps ErrRange; use
// a *time.Time for a time that may be absent. Any integer field can be read as
// time.Time, and type= chooses another one for writing. A time.Duration is an
// std::int64_t, as its Go type is an int64: it counts nanoseconds.
//
// # Errors
//
// Errors about bad input are of type *frame.FormatError and wrap ErrCorrupt, ErrChecksum or
// ErrUnsupported.
//
// Loops report errors in one of three ways. Entries and Batches yield a pointer and
// an error, because opening the view is part of the loop: the first error ends it and
// comes with a nil pointer. View.All and View.Range yield the number of an entry and
// its value, which leaves no room for an error: check View.Err after the loop, as with
// bufio.Scanner. The Read methods of views, for batches, return the number of entries
// and an error, io.EOF at the end, as io.ReaderAt does. Errors of writers are sticky:
// a loop may ignore those of Write, because Close returns the first one.
package rntuple
