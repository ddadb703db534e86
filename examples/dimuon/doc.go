// Dimuon reads muons from an RNTuple, pairs those of opposite charge, and shows
// the spectrum of the pairs' mass with its peaks from the ρ to the Z: counts and
// a histogram in the terminal, and a plot in dimuon.png.
//
//	go run ./examples/dimuon [-o PLOT] [FILE]
//
// FILE must contain an RNTuple "Events" with the fields of CMS's NanoAOD; the default is the sample
// in testdata. The extension of PLOT determines its format: .png, .pdf, .svg …
package main
