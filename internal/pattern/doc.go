// Package pattern matches fields with patterns of their paths, those of path.Match
// with dots between names in place of slashes: "Muon_*", "event.*.x".
package pattern
