// Select selects collision events with two muons of opposite charge, and writes them with the mass
// of each pair. Run it in the root of the repository.
package main
