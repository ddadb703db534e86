package main

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/internal/formula"
)

// expressionsTopic returns what "rnt help expressions" prints.
func expressionsTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "expressions",
		Short: "The language of conditions, and its functions",
		Long: `Expressions are written in the language that
https://expr-lang.org/docs/language-definition defines:

  + - * / % **            numbers, and arrays item by item: Muon_pt / 2
  == != < <= > >=         numbers and strings; an array of bools for an array
  and or not (&& || !)    conditions: nMuon > 1 and not isMC
  x ? y : z               y if x is true, otherwise z
  x ?? y                  y if x is missing
  v[0] v[-1] v[1:3]       items of an array: the first one, the last one, some
  v[v > 20]               items for which an array of bools is true
  MET.pt                  members of records; $env["a:b"] for odd names
  any(v, # > 20)          also all, none, one, count, filter, map, find, sum:
                          # is an item, .pt its member
  len min max mean sum    of arrays
  let m = x + y; m > 2    names for parts
  matches startsWith in   strings and arrays

Vectors are arrays, classes are records. There are no comments.

` + formula.Help(),
	}
}
