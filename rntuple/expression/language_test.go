package expression

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/internal/formula"
	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// TestDocumentedFunctions compares the functions of the documentation with those that there are,
// and with the numbers of arguments that they take.
func TestDocumentedFunctions(t *testing.T) {
	documented := map[string]builtin{}
	for _, f := range formula.Table {
		least, most := f.Arity()
		if f.F != nil && len(f.Parameters()) != most {
			t.Errorf("%s takes %d arguments", f, len(f.Parameters()))
		}
		if most < 0 {
			most = manyArguments
		}
		d, ok := documented[f.Name]
		if !ok {
			d = builtin{least: least, most: most}
		}
		documented[f.Name] = builtin{least: min(d.least, least), most: max(d.most, most)}
		if b := builtins[f.Name]; f.F == nil && b.build == nil {
			t.Errorf("%s is documented, but there is no such function", f)
		}
		if slices.Contains(formula.Dropped, f.Name) {
			t.Errorf("%s is documented, and left out", f)
		}
	}
	for name, b := range builtins {
		if d := documented[name]; d.least != b.least || d.most != b.most {
			t.Errorf("%s takes from %d to %d arguments; according to the documentation, from %d to %d", name, b.least,
				b.most, d.least, d.most)
		}
	}
}

// TestDocumentedOperators compares the operators of the documentation with those of the syntax.
func TestDocumentedOperators(t *testing.T) {
	operand := regexp.MustCompile(`\b[a-z]\b| `)
	documented := map[string]bool{}
	for _, row := range formula.Operators {
		for _, form := range row.Forms {
			if _, err := syntax.Parse(form); err != nil {
				t.Errorf("%s: %v", form, err)
			}
			documented[operand.ReplaceAllString(form, "")] = true
		}
	}
	want := map[string]bool{}
	for _, op := range syntax.Operators() {
		want[op] = true
	}
	delete(want, "|") // what follows is a call
	for _, form := range []string{"|()", ".", "?.", "[]", "[:]", "?:", "if{}else{}", "let=;", "notin", "in.."} {
		want[form] = true
	}
	if !maps.Equal(documented, want) {
		t.Errorf("documented are %q; there are %q", slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(want)))
	}
}

// TestDocumentedExamples parses the examples of the documentation.
func TestDocumentedExamples(t *testing.T) {
	examples := 0
	for _, s := range formula.Language {
		for _, text := range s.Text {
			if !strings.HasPrefix(text, "    ") {
				continue
			}
			for one := range strings.SplitSeq(strings.TrimSpace(text), "  ") {
				examples++
				if _, err := Parse(one); err != nil {
					t.Errorf("%s: %v", one, err)
				}
			}
		}
	}
	if examples < 15 {
		t.Errorf("only %d examples", examples)
	}
}
