// Package guard reads Arrow and Parquet files from anywhere by arrow-go, which panics where they are
// damaged.
package guard
