// Package formula has the functions of expressions: the table of those that exist
// beside the ones of the expression language of github.com/expr-lang/expr, and what
// that language's virtual machine needs to apply them, and the operators, to arrays
// and to missing values.
//
// Table says what a function computes, for one entry. Options has the virtual machine
// do so; package expression does it for columns, with the same Go functions, so both
// ways yield the same bits.
package formula
