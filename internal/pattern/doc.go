// Package pattern matches the paths of fields against patterns. These are the patterns of
// path.Match with dots instead of slashes between names: "Muon_*", "event.*.x".
package pattern
