// Package oracle is a simple, slow reference implementation of expressions: it evaluates them entry
// by entry and item by item, following the documentation literally. Tests compare package
// expression with it. It also generates random expressions, and files to evaluate them on. It is
// for tests only.
//
// The value of an expression is nil, which is missing, or a bool, int64, float64, string, []any or
// value.Record. A map is a []any of records {key, value}.
package oracle
