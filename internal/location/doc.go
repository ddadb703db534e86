// Package location parses the names of files, which are paths and URLs, and keeps what of them is
// secret from those who read errors.
package location
