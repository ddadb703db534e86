// Write makes a file of simulated collisions from Go structs, as ROOT would write
// it, and reads a few of its columns back.
//
//	go run ./examples/write [-n EVENTS] [-o FILE]
package main
