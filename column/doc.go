// Package column encodes and decodes single pages of columns. It contains the column types of the
// format and their codecs.
//
// Source: specification, section "Column Description"; ROOT class
// RColumnElement.
package column
