package formula

import (
	"fmt"
	"regexp"
	"strings"
)

// width is how long the lines of docs/ are, and helpWidth those of a terminal.
const width, helpWidth = 130, 80

// wrap returns a text in lines. The first one begins in a column, and the others with spaces.
func wrap(text string, width, at, indent int) string {
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case at+1+len(word) > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String() + "\n"
}

// paragraphs returns paragraphs, lists and examples, with empty lines between them.
func paragraphs(all []string, width int) string {
	var b strings.Builder
	for i, text := range all {
		m := mark(text)
		if i > 0 && (m == "" || m != mark(all[i-1])) {
			b.WriteByte('\n')
		}
		if m == example {
			b.WriteString(text + "\n")
		} else {
			b.WriteString(wrap(text, width, 0, len(m)))
		}
	}
	return b.String()
}

const example = "    "

// mark returns what an item of a list or an example begins with.
func mark(text string) string {
	for _, m := range []string{example, "- "} {
		if strings.HasPrefix(text, m) {
			return m
		}
	}
	return ""
}

var (
	link = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	cell = strings.NewReplacer("|", `\|`, "*", `\*`)
)

// plain returns Markdown without its marks.
func plain(text string) string {
	return strings.ReplaceAll(link.ReplaceAllString(text, "$1"), "`", "")
}

// Help returns the language and its functions, in lines of at most 80 characters.
func Help() string {
	var b strings.Builder
	b.WriteString("Conditions (--where), definitions (--define) and what is drawn are expressions:\n\n" + paragraphs(examples, helpWidth) + "\n")
	for _, s := range Language {
		fmt.Fprintf(&b, "%s:\n\n", s.Title)
		var text []string
		for _, t := range s.Text {
			if mark(t) != example { // which has backquotes of its own
				t = plain(t)
			}
			text = append(text, t)
		}
		b.WriteString(paragraphs(text, helpWidth) + "\n")
		for _, r := range s.Rows {
			name, value := strings.Join(r.Forms, "  "), plain(r.Of+": "+r.Value)
			if r.Forms == nil {
				name, value = plain(r.Of), plain(r.Value)
			}
			b.WriteString(entry(name, value))
		}
		if s.Rows != nil {
			b.WriteByte('\n')
		}
	}
	for i, g := range Groups {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s:\n\n", g.Title)
		for _, f := range g.Functions {
			b.WriteString(entry(f.String(), f.Doc))
		}
	}
	return b.String()
}

// entry returns the lines of a name and its description, which begins in column 24.
func entry(name, text string) string {
	const column = 24
	lines := wrap(text, helpWidth, column, column)
	if len(name) > column-4 {
		return "  " + name + "\n" + strings.Repeat(" ", column) + lines
	}
	return fmt.Sprintf("  %-*s", column-2, name) + lines
}

// Functions returns docs/reference/functions.md.
func Functions() string {
	var b strings.Builder
	b.WriteString("# Functions of expressions\n\n" + paragraphs([]string{
		"The functions of [expressions](expressions.md); `rnt help expressions` also lists them.",
		"- v and w are arrays, m a map, s and t strings, x a number or an array of numbers. Conditions, values and keys are evaluated for each item `#`: " +
			"`any(v, # > 20)`.",
		"- Angles are radians. Particles are given by the transverse momentum pt, the pseudorapidity eta, the azimuth phi and the mass m, all energies in the same unit.",
		"- Functions of numbers are elementwise on arrays: `sqrt(Muon_pt)`. Arrays must have the same length; a number beside arrays is broadcast: " +
			"`deltaPhi(Muon_phi, MET_phi)`. Integers become floats, except in `abs`, `int` and the functions of bits.",
		"- A function of a missing value is missing; [missing values](expressions.md#missing-values) has the details.",
		"- Results equal those of `ROOT::VecOps` and C++'s `<cmath>` up to rounding, except that `mass` stays accurate where the mass is small " +
			"compared with the energies, and `argsort` is stable.",
	}, width))
	for _, g := range Groups {
		fmt.Fprintf(&b, "\n## %s\n\n| function | value |\n|---|---|\n", g.Title)
		for _, f := range g.Functions {
			fmt.Fprintf(&b, "| `%s` | %s |\n", f, cell.Replace(f.Doc))
		}
	}
	b.WriteString("\n" + paragraphs([]string{
		"The masses of all pairs of muons:",
		"    let c = combinations(Muon_pt);",
		"    mass(Muon_pt[c[0]], Muon_eta[c[0]], Muon_phi[c[0]], Muon_mass[c[0]],",
		"         Muon_pt[c[1]], Muon_eta[c[1]], Muon_phi[c[1]], Muon_mass[c[1]])",
		"Indices from `argsort` and `combinations` that are out of range are an error. With other arrays of indices, such as a field, the result is missing.",
	}, width))
	return b.String()
}

// Expressions returns docs/reference/expressions.md.
func Expressions() string {
	var b strings.Builder
	b.WriteString("# Expressions\n\n" + paragraphs(append([]string{
		"Expressions are conditions (`rnt skim --where`, `Expression.Condition`; `And` combines several), definitions (`--define`), and values to draw or to " +
			"read in batches (`expression.Compile`, `Program.In`). [Functions](functions.md) lists their functions; `rnt help expressions` prints both pages.",
	}, examples...), width))
	for _, s := range Language {
		fmt.Fprintf(&b, "\n## %s\n\n%s", s.Title, paragraphs(s.Text, width))
		for i, r := range s.Rows {
			heads, name := "operator | of | ", "`"+strings.ReplaceAll(strings.Join(r.Forms, "`, `"), "|",
				`\|`)+"` | "+cell.Replace(r.Of)
			if r.Forms == nil {
				heads, name = "field | ", cell.Replace(r.Of)
			}
			if i == 0 {
				fmt.Fprintf(&b, "\n| %svalue |\n%s---|\n", heads, strings.Repeat("|---", strings.Count(heads, "|"))+"|")
			}
			fmt.Fprintf(&b, "| %s | %s |\n", name, cell.Replace(r.Value))
		}
	}
	return b.String()
}
