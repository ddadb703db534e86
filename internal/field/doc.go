// Package field maps fields to Go types: it makes a plan out of a field and a
// type, by reflection and once, and runs it for ranges of entries.
//
// A plan is a tree of nodes along the schema tree. A node reads the values of
// many items at once, column by column, and puts them into the memory of Go
// values that lie a fixed distance apart. It does so through unsafe pointers,
// as reflection for every value would cost several times more than decoding;
// the compiler checks shape and type of all that a pointer will meet.
package field
