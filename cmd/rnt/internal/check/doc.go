// Package check has the commands of rnt that check files for damage, compare them, and save what
// is left of them: verify, diff and recover.
package check
