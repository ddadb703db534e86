// Package pattern matches field paths against patterns. The syntax is that of path.Match with dots
// instead of slashes as separators: "Muon_*", "event.*.x".
package pattern
