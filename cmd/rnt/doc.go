// Command rnt shows, checks, repairs and writes RNTuples, the columnar data sets in ROOT files.
//
//	rnt ls FILE...              list the RNTuples in files
//	rnt schema FILE [NTUPLE]    print the fields, their types and columns
//	rnt cat FILE [NTUPLE]       print the entries, as JSON Lines
//	rnt head FILE [NTUPLE]      print the first entries
//	rnt tail FILE [NTUPLE]      print the last entries, and with -F new ones
//	rnt stat FILE [NTUPLE]      print or draw the sizes on disk and in memory
//	rnt draw FILE... EXPR       draw a histogram of an expression
//	rnt attrs FILE [NTUPLE]     print the attributes of ranges of entries
//	rnt verify FILE...          check files for damage
//	rnt dump FILE [NTUPLE]      print the records, byte by byte
//	rnt diff A B [NTUPLE]       compare two RNTuples
//	rnt recover OUT IN          recover data from a damaged file
//	rnt create --schema S OUT   create a file from JSON Lines
//	rnt merge OUT IN...         merge the entries of several files
//	rnt slim OUT IN             keep, drop or define fields
//	rnt skim --where E OUT IN   keep the entries that satisfy a condition
//	rnt concat OUT IN[A:B]...   concatenate ranges of entries
//	rnt split OUT IN            split the entries into several files
//	rnt hmerge OUT IN...        combine the fields of several files
//	rnt repack OUT IN           change compression, encodings or clusters
//	rnt append INTO IN...       add entries to an existing file
//	rnt rename FILE [NTUPLE]    rename an RNTuple or its fields, in place or in a copy
//	rnt index FILE [NTUPLE]     store value bounds that let conditions skip clusters
//
// Results are written to standard output, everything else to standard error. `rnt help` lists the
// exit statuses.
package main
