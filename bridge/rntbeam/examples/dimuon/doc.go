// Dimuon makes the spectrum of the masses of muon pairs from many files, on Apache Beam: the same
// pairs, bins and counts as the program examples/dimuon of the library, which reads one.
//
//	go run ./examples/dimuon [-o SPECTRUM.json] FILE|PATTERN|URL...
//
// Without more it runs in this process, on Beam's runner prism. On a cluster of Flink, with its job
// server at HOST:PORT:
//
//	go run ./examples/dimuon --runner=universal --endpoint=HOST:PORT --environment_type=LOOPBACK FILE...
package main
