// Package oracle evaluates expressions slowly and obviously: one entry at a time, one item at a
// time, as their documentation says. It is imported by tests only, which compare package expression
// with it. It also generates random expressions, and files to evaluate them on.
//
// The value of an expression is nil, which is missing, or a bool, int64, float64, string, []any or
// value.Record. A map is a []any of records {key, value}.
package oracle
