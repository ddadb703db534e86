package main

import (
	"fmt"
	"strings"
)

// parseEquivalents reads a list of mutants that do what the original does. Each begins with
// the function in a line of its own; below it are the lines before the change, with -, and
// after it, with +, and at least one line with the reason. Lines with # are comments.
func parseEquivalents(text string) (map[key]bool, error) {
	known := map[key]bool{}
	for block := range strings.SplitSeq(text, "\n\n") {
		var lines []string
		for line := range strings.Lines(block) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				lines = append(lines, line)
			}
		}
		if len(lines) == 0 {
			continue
		}
		if len(lines) < 4 || lines[1][0] != '-' || lines[2][0] != '+' {
			return nil, fmt.Errorf("equivalents: want a function, -, + and a reason in\n%s", block)
		}
		k := key{lines[0], strings.TrimSpace(lines[1][1:]), strings.TrimSpace(lines[2][1:])}
		if known[k] {
			return nil, fmt.Errorf("equivalents: twice: %v", k)
		}
		known[k] = true
	}
	return known, nil
}
