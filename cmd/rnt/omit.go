package main

import (
	"fmt"
	"slices"
	"strings"
)

// maxNamed is the most objects of a file, or fields, that a warning names.
const maxNamed = 8

// omit warns of fields that the first input lacks. The exit status tells of them, too, unless filtering: a flag
// leaves such fields out.
func omit(t *reporter, fields []string, filtering bool) {
	if len(fields) == 0 {
		return
	}
	say := t.leave
	if filtering {
		say = t.warn
	}
	say("not copied: fields that the first input lacks: %s", strings.Join(abridged(fields, "fields"), ", "))
}

// abridged returns the first names, and how many more there are.
func abridged(names []string, what string) []string {
	if more := len(names) - maxNamed; more > 1 {
		return append(slices.Clone(names[:maxNamed]), fmt.Sprintf("%d more %s", more, what))
	}
	return names
}
