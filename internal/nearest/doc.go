// Package nearest finds the name that a misspelt one probably stands for.
package nearest
