// Command rnt shows what RNTuples, the columnar data sets in ROOT files, hold and
// what they cost, checks and repairs them, and makes new ones.
//
//	rnt ls FILE...              the RNTuples in files
//	rnt schema FILE [NTUPLE]    the fields, their types and columns
//	rnt cat FILE [NTUPLE]       the entries, as JSON Lines
//	rnt head FILE [NTUPLE]      the first entries
//	rnt stat FILE [NTUPLE]      sizes on disk and in memory
//	rnt attrs FILE [NTUPLE]     attribute sets: what is said of ranges of entries
//	rnt verify FILE...          what is damaged
//	rnt dump FILE [NTUPLE]      the records, byte by byte
//	rnt diff A B [NTUPLE]       how two RNTuples differ
//	rnt recover OUT IN          what is left of a damaged file
//	rnt create --schema S OUT   a file of entries in JSON Lines
//	rnt merge OUT IN...         the entries of several files, one after the other
//	rnt slim OUT IN             some of the fields
//	rnt skim --where E OUT IN   the entries that meet a condition
//	rnt concat OUT IN[A:B]...   ranges of entries, one after the other
//	rnt split OUT IN            several files with some of the entries each
//	rnt hmerge OUT IN...        the fields of several files, side by side
//	rnt repack OUT IN           the same entries, stored differently
//	rnt append INTO IN...       more entries in an existing file
//	rnt rename FILE [NTUPLE]    new names, in an existing file or a copy
//
// Results go to standard output, everything else to standard error. The exit
// statuses are those of the constants below, which `rnt help` explains.
package main
