// Package selection has the flags that choose fields and entries: --fields, --where and
// --define, and what they choose of a schema.
package selection
