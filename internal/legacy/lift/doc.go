// Package lift converts the descriptors of pre-release formats to the form that
// they have in format 1, where the dialects describe trees of fields and types of
// columns in their own ways.
package lift
