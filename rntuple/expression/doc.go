// Package expression evaluates expressions over the entries of a source:
//
//	nMuon == 2 && all(Muon_pt, # > 20)
//	any(Electron_eta, abs(#) < 1.4) or MET.pt > 100
//	sum(Jet_pt) / len(Jet_pt) > 30 and "HLT_Mu17" in triggers
//
// Expressions are parsed (Parse), checked against the fields of a source, and evaluated: as
// conditions (Expression.Condition) or for values in batches (Compile). The repository's
// docs/reference/expressions.md defines the language, and docs/reference/functions.md its
// functions.
//
// The variables are the top-level fields; $env["a:b"] is one whose name is not a word of the
// language. A value is a bool, an integer of 64 bits, a float of 64 bits, a string, an array, a
// record or a map. All types are known before anything is read.
//
// A value may be missing, such as x[0] of an empty array. Arithmetic and functions of it are
// missing, and comparisons false; a condition that is missing is false.
//
// Conditions do not read clusters for which zone maps decide; see package zonemap.
package expression
