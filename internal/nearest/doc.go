// Package nearest finds what a misspelt name probably stands for.
package nearest
