package expression

import (
	"fmt"
	"strings"

	"github.com/go-rntuple/go-rntuple/internal/syntax"
)

// Hints say what helps with an error, mostly to those who write what TTree::Draw of ROOT takes.
// They are for names of fields, and of functions, that do not exist.
var (
	names = map[string]string{
		"pi": "pi is 3.141592653589793", "True": "write true or false", "TRUE": "write true or false",
		"False": "write true or false",
		"FALSE": "write true or false",
	}
	calls = map[string]string{
		"pi": "pi is 3.141592653589793", "Sum$": "write sum(array)", "Length$": "write len(array)",
		"Max$": "write max(array)",
		"Min$": "write min(array)", "Alt$": "write array[1] ?? 0", "MaxIf$": "write max(array[condition])",
		"MinIf$": "write min(array[condition])",
	}
)

// hint returns what a message about a name ends with.
func hint(of map[string]string, name string) string {
	text := of[name]
	if text == "" && strings.HasSuffix(name, "$") {
		text = "expressions have no special variables"
	}
	if text == "" {
		return ""
	}
	return "; " + text
}

// oddNames says which fields occur in the text although their names are not words of the language,
// as in a-b, which is a difference.
func (b *builder) oddNames() (help string) {
	for _, name := range b.scope.names {
		if !word().MatchString(strings.ReplaceAll(name, ".", "_")) && strings.Contains(b.source.text, name) &&
			!strings.Contains(b.source.text, "$env") {
			help += fmt.Sprintf("; write the field %s as $env[%q]", name, name)
		}
	}
	return help
}

// asNumber says how a bool becomes a number.
func asNumber(n syntax.Node) string { return fmt.Sprintf("; as a number it is (%s ? 1 : 0)", n) }
