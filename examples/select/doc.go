// Select reads collision events, selects those with two muons of opposite charge, and
// writes the mass of each pair. Run it in the root of the repository.
package main
