// Package nearest finds the candidate closest to a misspelled name, for "did you mean" messages.
package nearest
