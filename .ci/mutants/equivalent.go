package main

import (
	"fmt"
	"strings"
)

// parseEquivalents reads a list of mutants that do what the original does. Each part of it
// begins with a function in a line of its own. Then come lines before the change, with -, each
// followed by those after some changes, with +; the other lines are the reason. Lines with #
// are comments.
func parseEquivalents(text string) (map[key]bool, error) {
	known := map[key]bool{}
	for part := range strings.SplitSeq(text, "\n\n") {
		var k key
		found, reason := 0, false
		for line := range strings.Lines(part) {
			line = strings.TrimSpace(line)
			mark, rest := line[:min(1, len(line))], strings.TrimSpace(line[min(1, len(line)):])
			switch {
			case mark == "" || mark == "#":
			case k.function == "":
				k.function = line
			case mark == "-":
				k.before = rest
			case mark == "+" && k.before != "":
				k.after = rest
				if known[k] {
					return nil, fmt.Errorf("equivalents: twice: %v", k)
				}
				known[k] = true
				found++
			default:
				reason = true
			}
		}
		if k.function != "" && (found == 0 || !reason) {
			return nil, fmt.Errorf("equivalents: want a function, -, + and a reason in\n%s", part)
		}
	}
	return known, nil
}
