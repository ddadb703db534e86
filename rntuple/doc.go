// Package rntuple reads and writes RNTuples, the columnar data sets of CERN's ROOT, without
// requiring ROOT.
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
// Fold runs any of these in several goroutines and combines their results in order.
//
// All of these also read from several files: from a Chain, one after the other, and from a Join,
// side by side or matched by the values of fields. Where selects entries by a Condition; a
// Selection reads only the pages that contain its entries.
//
// # Options
//
// Functions take their options as a pointer to a struct and copy it. A nil pointer selects the
// defaults, and so does the zero value of each field. Options that a function does not support are
// an error.
//
// When the context of a Source is done, its views, loops and batches return the context's error. It
// is ReadOptions.Context, or the one passed to WithContext.
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
// The exported fields of a struct correspond to fields of the RNTuple, or members of a class or
// record. Fields of an embedded struct without a tag are promoted to the outer struct. Readers and
// writers use the same tags:
//
//	`rntuple:"name,option,option=value"`
//
// The name defaults to that of the Go field. For readers it may be a path, as for ViewOf. A name
// "-" without options omits the field. The options are the following; readers use the first two and
// ignore the others:
//
//	optional               a missing field is read as zero; without this, it is an error
//	time=us                the unit of a time.Time in the file: ns, us, ms or s; default ns
//	type=char              the C++ type, from the standard library
//	class=Vertex           the C++ class of a struct
//	enum=Color             an enum whose underlying type is that of the Go field
//	encoding=Real16        the type of the column
//	trunc=16               the upper 16 bits of a float, truncated, not rounded
//	quant=12,min=-5,max=5  12 bits for this range; writing a value outside it is an error
//	desc=momentum in GeV   the description; must be the last option, because it extends to the end
//
// ROOT reads a field with an enum only where the enum is known, from a dictionary or a declaration.
// Otherwise, RDataFrame omits the column, and RNTupleReader.Show throws; if the enum is only
// declared, RDataFrame of ROOT 6.40 still fails to read it. For portability, use an integer without
// the option enum, and document the values in desc.
//
// Unknown, duplicate or conflicting options, and options that do not apply to the Go type, are an
// error that names the Go field. So is a struct with fields none of which is exported, such as
// sync.Mutex or netip.Addr, because nothing of it would be stored.
//
// # Times
//
// A time.Time is stored as a std::int64_t: the nanoseconds since 1970-01-01 UTC, with a range from
// 1677 to 2262, or the unit set by the option time. If the tag has no description, the field's
// description states the unit; readers ignore it. Times are truncated to the unit, and read back in
// UTC: the location is not stored. A time out of range, such as the zero time.Time in nanoseconds,
// is an error that wraps ErrRange; use a *time.Time for an optional time. Any integer field can be
// read as time.Time, and type= selects another integer type for writing. A time.Duration is stored
// as a std::int64_t of nanoseconds.
//
// # Errors
//
// Errors about malformed input are of type *frame.FormatError and wrap ErrCorrupt, ErrChecksum or
// ErrUnsupported.
//
// Loops report errors in one of three ways. Entries and Batches yield a pointer and an error,
// because the loop also opens the view: the first error ends the loop and is yielded with a nil
// pointer. View.All and View.Range yield the index of an entry and its value: check View.Err after
// the loop, as with bufio.Scanner. The Read methods of views return the number of entries and an
// error, which is io.EOF at the end, like io.ReaderAt. Errors of writers are sticky: a loop may
// ignore the errors of Write, because Close returns the first one.
package rntuple
