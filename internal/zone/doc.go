// Package zone reads and writes zone maps: attribute sets with the bounds of the values of fields
// in each cluster. docs/reference/zonemaps.md describes them.
package zone
