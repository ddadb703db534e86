// Package parquet has rntbeam read Parquet files, with the format "parquet": importing it is
// enough. Types become those of RNTuples as package rntarrow says; row groups are what clusters
// are.
package parquet
