// Package ttree has rntbeam read TTrees, with the format "ttree": importing it is enough. Types
// become those of RNTuples as package rntgroot says, with TreeOptions.Flat: an array of variable
// length is a std::vector.
package ttree
