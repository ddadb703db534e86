// Package location parses file names, which are paths or URLs, and redacts secrets in them for
// error messages.
package location
