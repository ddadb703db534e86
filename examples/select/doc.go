// Select reads collision events, selects those with two muons of opposite charge,
// and writes the mass of each pair. Run it in the repository's root.
package main
