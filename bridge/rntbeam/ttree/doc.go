// Package ttree registers the format "ttree", which reads TTrees, with package rntbeam; import it
// for this side effect. Types are converted as described in package rntgroot, with
// TreeOptions.Flat: an array of variable length is a std::vector.
package ttree
