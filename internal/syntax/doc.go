// Package syntax parses expressions. The language is that of expr-lang, without the constructs that
// are meaningless for fields.
//
// The operators, in order of increasing precedence, are
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
// All operators except ** and the conditional are left-associative. a < b < c is a < b and b < c.
// After a ?? b, only another ??, a pipe or a conditional may follow without parentheses. The bodies
// of let, braces and parentheses extend as far as possible.
//
// Not supported are comments, byte literals, method calls, computed member names of records, and
// sequences a; b, whose first value would be discarded.
package syntax
