// Package formula defines the expression language in tables: its functions, including the Go
// implementations of numeric ones, its operators, the types of fields, and its rules.
// docs/reference/expressions.md, docs/reference/functions.md and the help of the tool are generated
// from them. It also provides the memory Budget of an evaluation. Package expression evaluates
// expressions.
package formula
