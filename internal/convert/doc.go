// Package convert contains the table of conversions between the Go types of column elements. It is
// used to read into another type, to write from another type, and to check whether all values of a
// page fit a type.
//
// Booleans and integers convert to each other, and so do floating-point numbers,
// as ROOT allows when a schema evolves. Nothing else does.
package convert
