// Package rntarrow converts RNTuples to and from Apache Arrow record batches. Package rntparquet does
// the same for Parquet files.
//
// # From RNTuple to Arrow
//
// NewReader returns an array.RecordReader of any rntuple.Source: a file, a chain, a join, or a
// selection of one of them. A record batch has the entries of an rntuple.Batch, so it never spans
// clusters. Memory is shared with the batch where the layouts are identical, and copied otherwise.
// The types are, by the shape of the field:
//
//	numbers, enums, atomics, std::byte   the number of the same size; char is int8
//	bool                                 bool
//	std::string                          large_utf8
//	std::vector, RVec, set, …            large_list<item>
//	std::map, unordered_map, multimap    map<key, value>; with Options.Pairs, large_list<struct>
//	std::array, bitset                   fixed_size_list<item>
//	classes, pairs, tuples               struct; base classes and members of tuples have their names in the RNTuple
//	std::optional, std::unique_ptr       the value's type, nullable
//	std::variant                         dense_union, with a last child of type null for variants without a value
//	cardinality                          uint64
//	projected field                      as its source, sharing its memory
//	streamed object                      large_binary
//
// An optional of an optional or of a variant is a nullable struct with the one member "_0", because
// Arrow cannot tell which of the two is missing. Only optionals, and fields of inputs that a join
// might not match, are nullable. Zero-length arrays have no Arrow type and cause an error that
// wraps errors.ErrUnsupported. Strings that are not valid UTF-8 cause one when they are read; with
// Options.Binary, strings are large_binary instead.
//
// # From Arrow to RNTuple
//
// Create and Write write the batches of any array.RecordReader to an RNTuple. The types are:
//
//	bool, integers, floats               the number of the same size; a half float becomes a float
//	utf8, large_utf8, utf8_view          std::string
//	binary, large_binary, binary_view    std::vector<std::byte>
//	fixed_size_binary[n]                 std::array<std::byte,n>
//	date32, time32                       std::int32_t, with the type in the description
//	date64, time64, timestamp, duration  std::int64_t, with the type in the description
//	list, large_list, list views         std::vector; an untyped collection if the items are structs
//	fixed_size_list[n]                   std::array
//	map                                  std::vector<std::pair<K,V>>, as keys may be unsorted and repeated
//	struct                               an untyped record; std::tuple where the format has none: in optionals, arrays, pairs and variants
//	dense_union, sparse_union            std::variant; a last child of type null represents no value
//	dictionary, run_end_encoded          the values
//	extension types                      the values of their storage
//	nullable fields                      std::optional, unless WriteOptions.Plain names them
//
// A field that was created by NewReader gets its original C++ type. If the C++ types cannot
// represent the Arrow schema, Create also stores that schema in the attribute set SchemaSet, and
// NewReader restores its types unless Options override them: timestamps, dates, half floats,
// binaries, maps, the names of tuple members; and metadata. Layouts (32- or 64-bit offsets, views)
// are not restored; they follow Options. The attribute set is omitted if it is not needed, because
// ROOT prints a warning for each file with attribute sets. Decimals, intervals and columns of type
// null are not supported: a single error lists all of them before anything is written.
//
// # Metadata
//
// The metadata of an Arrow field contains the C++ type ("rntuple:type") and the description of the
// field ("description"); the metadata of the schema contains the name of the RNTuple
// ("rntuple:name").
package rntarrow
