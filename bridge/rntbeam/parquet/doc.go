// Package parquet registers the format "parquet", which reads Parquet files, with package rntbeam;
// import it for this side effect. Types are converted as described in package rntarrow; row groups
// take the role of clusters.
package parquet
