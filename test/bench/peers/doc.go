// Peers does the work of the benchmarks with Go libraries for other formats: parquet-go
// and arrow-go with Parquet files, groot with TTrees. It has a module of its own
// to keep their dependencies away from ours.
//
//	go run . parquet F|J FILE OUTPUT            the entries of an RNTuple as a Parquet file
//	go run . parquet nested ROWS OUTPUT         rows of nested structs, for tests of conversion
//	go run . columns|rows|records F|J FILE THREADS
//	go run . tree F|J FILE THREADS
//
// The first two make a file; the others serve one work, see ../cpp/bench.cpp.
package main
