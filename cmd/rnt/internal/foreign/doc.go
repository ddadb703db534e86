// Package foreign reads entries from files in other formats than RNTuple, and writes them to such
// files: TTrees, Parquet, Arrow, CSV and JSON Lines.
package foreign
