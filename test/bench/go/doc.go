// Bench/go runs the benchmarks with this library; ../cpp/bench.cpp describes them.
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
// It also extracts pages to a file, see ../cpp/codecs.cpp:
//
//	go run ./test/bench/go pages KIND FILE OUTPUT
package main
