package formula

import (
	"fmt"
	"strings"
)

// missing says what missing values mean, for Help and docs/expressions.md: a paragraph, and a list.
var missing = []string{
	"An item `x[i]` out of range is missing, and so are an empty optional, a key that a map does not have, a member of a missing " +
		"record, and the `min`, `max` and `mean` of an empty array (`sum` is 0).",
	"Arithmetic and functions of a missing value are missing.",
	"Comparisons with a missing value are false, also `!=` and `in`. `x == nil` and `x != nil` tell; `x ?? y` is y if x is missing.",
	"As a condition, in `and`, `or`, `not`, `? :` and predicates, a missing value is false. So `v[0] > 20` and `v[0] <= 20` are both " +
		"false for an empty array, but `not (v[0] > 20)` and `not flags[0]` are true.",
}

// Missing returns what missing values mean, in lines of some width.
func Missing(width int) string {
	var b strings.Builder
	for i, text := range missing {
		mark, indent := "- ", "  "
		if i == 0 {
			mark, indent = "", ""
		}
		line := mark
		for _, word := range strings.Fields(text) {
			if len(strings.TrimSpace(line)) > 1 && len(line)+len(word) > width {
				b.WriteString(strings.TrimRight(line, " ") + "\n")
				line = indent
			}
			line += word + " "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if i == 0 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// Help returns what missing values mean and a listing of the functions, in lines of at most 80
// characters.
func Help() string {
	var b strings.Builder
	b.WriteString("Missing values:\n\n" + strings.ReplaceAll(Missing(80), "`", "") + "\n")
	for i, g := range Groups {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s:\n", g.Title)
		for _, f := range g.Functions {
			b.WriteString(f.help())
		}
	}
	return b.String()
}

// help returns the lines of one function: those of its description begin in column 24.
func (f Function) help() string {
	const column, width = 24, 80
	line := "  " + f.String()
	if len(line) > column-2 {
		line += "\n"
	}
	var b strings.Builder
	at := len(line)
	for _, word := range strings.Fields(f.Doc) {
		switch {
		case strings.HasSuffix(line, "\n"), at+1+len(word) > width:
			b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
			line, at = strings.Repeat(" ", column)+word, column+len(word)
		case b.Len() == 0 && at < column:
			line += strings.Repeat(" ", column-at) + word
			at = column + len(word)
		default:
			line += " " + word
			at += 1 + len(word)
		}
	}
	return b.String() + line + "\n"
}

// Markdown returns docs/functions.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Functions of expressions

Expressions are conditions (` + "`rnt skim --where`" + `), definitions and what is drawn. Their language is that of
[expr-lang](https://expr-lang.org/docs/language-definition), whose functions they may call; [expressions](expressions.md) says
what differs. These functions come in addition. ` + "`rnt help expressions`" + ` lists them.

- Angles are radians. Particles are given by the transverse momentum pt, the pseudorapidity eta, the azimuth phi and the mass m,
  all energies in the same unit.
- Functions of numbers take arrays as well, and yield an array then: ` + "`sqrt(Muon_pt)`" + `. Arrays must have the same length; a number
  beside arrays is the same for all items: ` + "`deltaPhi(Muon_phi, MET_phi)`" + `. Integers become floats, except in ` + "`abs`" + ` and the
  functions of bits.
- A function of a missing value is missing, and so is a function of an array if it needs an item that is missing.
- Results are those of ROOT's ` + "`ROOT::VecOps`" + ` and of C++'s ` + "`<cmath>`" + `, to within the rounding of the last digits. ` + "`mass`" + ` keeps its
  digits where the mass is small against the energies, and ` + "`argsort`" + ` is stable, which ROOT's are not.
`)
	for _, g := range Groups {
		fmt.Fprintf(&b, "\n## %s\n\n| function | value |\n|---|---|\n", g.Title)
		for _, f := range g.Functions {
			fmt.Fprintf(&b, "| `%s` | %s |\n", f, strings.NewReplacer("|", `\|`, "*", `\*`).Replace(f.Doc))
		}
	}
	b.WriteString(`
Pairs of items need both kinds of indices, here for the masses of all pairs of muons:

    let c = combinations(Muon_pt);
    mass(Muon_pt[c[0]], Muon_eta[c[0]], Muon_phi[c[0]], Muon_mass[c[0]],
         Muon_pt[c[1]], Muon_eta[c[1]], Muon_phi[c[1]], Muon_mass[c[1]])

The indices that ` + "`argsort` and `combinations`" + ` yield belong to arrays as long as theirs: as indices of a shorter one they are an
error. With other arrays of indices, such as a field of them, what they choose is missing if one is out of range.
`)
	return b.String()
}
