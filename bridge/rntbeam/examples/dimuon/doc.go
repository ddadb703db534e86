// Dimuon computes the mass spectrum of muon pairs from many files on Apache Beam: the same pairs,
// bins and counts as the library's program examples/dimuon, which reads a single file.
//
//	go run ./examples/dimuon [-o SPECTRUM.json] FILE|PATTERN|URL...
//
// By default it runs in-process, on Beam's runner prism. On a Flink cluster with its job server at
// HOST:PORT:
//
//	go run ./examples/dimuon --runner=universal --endpoint=HOST:PORT --environment_type=LOOPBACK FILE...
package main
