// Package rootfile reads and writes the container that ROOT files are: a
// header, records that each begin with a key, and directories that list the
// keys of named objects.
//
// A File goes from the header to the directory, from there to the list of keys and
// to an object, and reads nothing else. It never walks from record to record: the
// space between those that a directory lists may hold anything, even in files that
// ROOT reads without complaint. A Writer appends records to a new or an existing
// file, and then makes the header and the directories refer to them.
//
// Every integer of the container is big-endian. Each record is described once,
// by its Wire method, for reading and writing.
package rootfile
