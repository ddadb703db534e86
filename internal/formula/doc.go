// Package formula has the tables of the language of expressions: its functions, of which those of
// numbers are here as Go functions, its operators, the types of fields, and its rules.
// docs/reference/expressions.md, docs/reference/functions.md and the help of the tool are made of
// them. It also has the Budget of an evaluation. Package expression evaluates expressions.
package formula
