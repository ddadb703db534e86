// Package field maps fields to Go types: it compiles a field and a type to a plan once, by
// reflection, and runs the plan for ranges of entries.
//
// A plan is a tree of nodes parallel to the schema tree. A node reads many items per call, column
// by column, and stores them into Go values at a fixed stride. It uses unsafe pointers, because
// reflection on every value would cost several times more than decoding; compiling the plan
// verifies the shape and type of everything that the pointers will access.
package field
