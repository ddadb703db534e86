// Package column encodes and decodes one page of one column: the type table of
// the format and its codecs.
//
// Source: specification, section "Column Description"; ROOT class
// RColumnElement.
package column
