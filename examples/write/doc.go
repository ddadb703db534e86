// Write writes simulated collisions to a file from Go structs, in the layout that ROOT would use,
// and reads a few of its columns back.
//
//	go run ./examples/write [-n EVENTS] [-o FILE]
package main
