// Package rntarrow reads RNTuples as Apache Arrow record batches or writes them as Parquet files,
// and makes RNTuples of either.
//
// # From RNTuple to Arrow
//
// NewReader makes an array.RecordReader of any rntuple.Source: a file, a chain, a join, or the
// entries of one that meet a condition. A record batch has the entries of an rntuple.Batch, so
// none crosses the end of a cluster; where the memory is laid out alike it is shared, not copied.
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
//	projected field                      as its source, whose memory it shares
//	streamed object                      large_binary
//
// An optional of an optional or of a variant is a nullable struct with the one member "_0",
// because Arrow cannot tell which of the two is missing. Nothing but optionals, and the fields
// that a join may not match, is nullable. Arrays of no items have no type in Arrow and are
// refused, as are strings that are not UTF-8 when they are met; Options.Binary reads strings as
// large_binary instead.
//
// # From Arrow to RNTuple
//
// Create and Write make an RNTuple of any array.RecordReader. The types are:
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
//	dense_union, sparse_union            std::variant; a last child of type null stands for no value
//	dictionary, run_end_encoded          the values
//	extension types                      the values of their storage
//	nullable fields                      std::optional, unless WriteOptions.Plain names them
//
// A field that NewReader made gets its type in C++ back. Where the types in C++ tell less than the
// schema of the record batches, Create stores that schema in an attribute set, SchemaSet, and
// NewReader gives its types back as far as Options ask for no others: timestamps, dates, half
// floats, binaries, maps, the names in tuples; and metadata. Layouts are no types: whatever they
// were, those of lists, strings and binaries are as Options say. ROOT warns of each file with
// attribute sets, so there is none where nothing would be lost. Decimals, intervals and columns of
// type null are refused, all at once and by name, before anything is written.
//
// # Parquet
//
// WriteParquet and NewParquetReader do the same for Parquet files, through the types above. Parquet
// has no unions, so variants become structs with a nullable member for each alternative; arrays
// that may be missing become lists, because the writer of arrow-go takes no others. The items of
// lists are called "element" there, or as ParquetOptions.Item says. The bytes of floating-point
// numbers are split, which makes files smaller and takes less time than dictionaries of them.
//
// # Metadata
//
// The metadata of an Arrow field has the C++ type of the field ("rntuple:type") and its
// description ("description"), that of the schema the name of the RNTuple ("rntuple:name").
package rntarrow
