// Peers runs the benchmarks with Go libraries for other formats: parquet-go and arrow-go with
// Parquet files, groot with TTrees. It is a separate module, to keep their dependencies out of the
// others.
//
//	go run . parquet F|J FILE OUTPUT            the entries of an RNTuple as a Parquet file
//	go run . parquet nested ROWS OUTPUT         rows of nested structs, for tests of conversion
//	go run . columns|rows|records F|J FILE THREADS
//	go run . tree F|J FILE THREADS
//
// The first two write a file; each of the others runs one benchmark, see ../cpp/bench.cpp.
package main
