// Package textout writes entries as CSV or JSON Lines, for rnt convert and the page of module
// viewer.
package textout
