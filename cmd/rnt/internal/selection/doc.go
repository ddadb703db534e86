// Package selection implements the flags that select fields and entries, --fields, --where and
// --define, and resolves them against a schema.
package selection
