// Package rootfile reads and writes the container format of ROOT files: a header, records that each
// begin with a key, and directories that list the keys of named objects.
//
// A File reads only the header, the directories, their lists of keys, and the requested objects. It
// never walks from record to record: the space between listed records may contain arbitrary bytes,
// even in files that ROOT reads without errors. A Writer appends records to a new or an existing
// file, and then updates the header and the directories to refer to them.
//
// Every integer of the container is big-endian. Each record is described once,
// by its Wire method, for reading and writing.
package rootfile
