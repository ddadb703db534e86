package formula

// A Function is a function of expressions. F is one of these:
//
//	func(float64) float64, and of 2, 3, 4 and 8 numbers
//	func(float64) bool
//	func(float64) int64
//	func(int64) int64
//	func(m, n int64) int64
//
// are functions of numbers. Where arguments are arrays, which must have the same
// length, they are applied item by item, with the other arguments the same for all
// items; the result is an array. Integers become floats.
//
//	func(a, b, c, d []float64) float64
//
// is a function of arrays of numbers, which must have the same length.
//
// F is nil for functions of values of many types, which package expression builds.
//
// All functions of missing values are missing. They keep none of their arguments, and
// are safe for concurrent use.
type Function struct {
	Name string
	Args string // names of the arguments: "pt, eta, phi, m"; after "...", there may be more
	Doc  string // one sentence without its full stop
	F    any
}

// A Group is functions that documentation lists together.
type Group struct {
	Title     string
	Functions []Function
}

// Table holds all functions. Several may share a name: the number of their arguments
// tells them apart, or one is of integers and the next of floats.
var Table = func() (all []Function) {
	for _, g := range Groups {
		all = append(all, g.Functions...)
	}
	return all
}()
