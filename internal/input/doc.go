// Package input opens local and remote files for reading.
package input
