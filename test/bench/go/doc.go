// Bench/go does the work of the benchmarks with this library; see ../cpp/bench.cpp
// for what each piece of work is.
//
//	go run ./test/bench/go bulk|entries F|J|S FILE THREADS
//	go run ./test/bench/go arrow F|J FILE THREADS
//	go run ./test/bench/go maps S FILE THREADS
//	go run ./test/bench/go views|random F FILE THREADS
//	go run ./test/bench/go dimuon J FILE THREADS
//	go run ./test/bench/go open wide FILE THREADS
//	go run ./test/bench/go write|writerows F|J FILE THREADS COMPRESSION OUTPUT
//	go run ./test/bench/go convert F|J FILE THREADS COMPRESSION OUTPUT
//	go run ./test/bench/go decode KIND PAGES THREADS
//	go run ./test/bench/go encode SETTINGS PAGES THREADS
//
// or makes a file of pages, see ../cpp/codecs.cpp:
//
//	go run ./test/bench/go pages KIND FILE OUTPUT
package main
