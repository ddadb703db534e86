// Package foreign reads and writes entries in formats other than RNTuple: TTrees (read only),
// Parquet, Arrow, CSV and JSON Lines.
package foreign
