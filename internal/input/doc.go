// Package input opens files for reading, wherever they are.
package input
