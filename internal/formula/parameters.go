package formula

import (
	"reflect"
	"strings"
)

// A Parameter is what an argument of a function is.
type Parameter uint8

// The parameters of functions.
const (
	OfNumber  Parameter = iota // a number, or an array of numbers: item by item
	OfInteger                  // the same of integers
	OfNumbers                  // an array of numbers
)

// String returns the parameter with its article.
func (p Parameter) String() string {
	return [...]string{"a number or an array of numbers", "an integer or an array of integers", "an array of numbers"}[p]
}

// Parameters returns what the arguments of the function are.
func (f Function) Parameters() []Parameter {
	if f.F == nil {
		return nil
	}
	t := reflect.TypeOf(f.F)
	var all []Parameter
	for i := range t.NumIn() {
		switch t.In(i) {
		case reflect.TypeFor[float64]():
			all = append(all, OfNumber)
		case reflect.TypeFor[int64]():
			all = append(all, OfInteger)
		case reflect.TypeFor[[]float64]():
			all = append(all, OfNumbers)
		}
	}
	return all
}

// Cost returns about how many additions take as long as the function.
func (f Function) Cost() int { return 4 * reflect.TypeOf(f.F).NumIn() }

// Named returns the functions of a name in the order of Table.
func Named(name string) (all []Function) {
	for _, f := range Table {
		if f.Name == name {
			all = append(all, f)
		}
	}
	return all
}

// String returns the function with its arguments: hypot(x, y).
func (f Function) String() string { return f.Name + "(" + f.Args + ")" }

// Arity returns how many arguments the function takes at least and at most, which is -1 if it takes
// any number.
func (f Function) Arity() (least, most int) {
	args := strings.Split(f.Args, ", ")
	if args[len(args)-1] == "..." {
		return len(args) - 1, -1
	}
	return len(args), len(args)
}

// Dropped are functions of expr-lang that conditions on data do not have.
var Dropped = []string{"type", "toJSON", "fromJSON", "toBase64", "fromBase64", "now", "date", "duration", "timezone",
	"toPairs", "fromPairs"}
