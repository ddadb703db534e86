// Package syntax parses the text of expressions: the language of expr-lang, without what has no
// meaning for the fields of a source.
//
// From the loosest to the tightest, the operators are
//
//	let x = a; b   if a { b } else { c }   a ? b : c   a ?: b
//	a | f(b)
//	or ||
//	and &&
//	== != < <= > >= in matches contains startsWith endsWith, and the words of these with not before them
//	..
//	+ -
//	not ! (before an operand)
//	* / %
//	- + (before an operand)
//	** ^
//	??
//	a.name a?.name a[i] a?.[i] a[i:j]
//
// All but ** and the conditional group from the left. a < b < c is a < b and b < c. After a ?? b,
// only another ??, a pipe or a conditional may follow without parentheses. The body of let, of
// braces and of parentheses reaches as far as it can.
//
// Not part of the language are comments, byte literals, calls of members, names of records that are
// computed, and sequences a; b, whose first value would be lost.
package syntax
