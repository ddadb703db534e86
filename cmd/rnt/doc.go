// Command rnt shows, checks, repairs and makes RNTuples, the columnar data sets in
// ROOT files.
//
//	rnt ls FILE...              list the RNTuples in files
//	rnt schema FILE [NTUPLE]    print the fields, their types and columns
//	rnt cat FILE [NTUPLE]       print the entries, as JSON Lines
//	rnt head FILE [NTUPLE]      print the first entries
//	rnt tail FILE [NTUPLE]      print the last entries, and with -F those that come
//	rnt stat FILE [NTUPLE]      print or draw the sizes on disk and in memory
//	rnt draw FILE... EXPR       draw a histogram of an expression
//	rnt attrs FILE [NTUPLE]     print the attributes of ranges of entries
//	rnt verify FILE...          check files for damage
//	rnt dump FILE [NTUPLE]      print the records, byte by byte
//	rnt diff A B [NTUPLE]       compare two RNTuples
//	rnt recover OUT IN          save what is left of a damaged file
//	rnt create --schema S OUT   make a file from JSON Lines
//	rnt merge OUT IN...         join the entries of several files
//	rnt slim OUT IN             keep, drop or define fields
//	rnt skim --where E OUT IN   keep the entries that meet a condition
//	rnt concat OUT IN[A:B]...   join ranges of entries
//	rnt split OUT IN            divide the entries among several files
//	rnt hmerge OUT IN...        put the fields of several files side by side
//	rnt repack OUT IN           change compression, encodings or clusters
//	rnt append INTO IN...       add entries to an existing file
//	rnt rename FILE [NTUPLE]    change names, in an existing file or a copy
//	rnt index FILE [NTUPLE]     store bounds of values, so that conditions skip clusters
//
// Results go to standard output, everything else to standard error. The exit
// statuses are those of package cli, which `rnt help` explains.
package main
