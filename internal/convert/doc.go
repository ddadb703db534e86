// Package convert holds the one table of conversions between the Go types that the
// elements of columns have. Reading into another type, writing from another type, and
// checking whether all values of a page fit a type use it.
//
// Booleans and integers convert to each other, and so do floating-point numbers,
// as ROOT allows when a schema evolves. Nothing else does.
package convert
