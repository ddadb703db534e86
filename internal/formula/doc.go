// Package formula is what expressions are made of, beside the expression language of
// github.com/expr-lang/expr itself: a table of functions, and a checker of types that
// has the language's virtual machine apply functions and operators to arrays and to
// missing values.
//
// Table says what a function computes, for one entry. Compile has the virtual machine
// do so; package expression does it for columns, with the same Go functions, so both
// ways yield the same bits.
package formula
