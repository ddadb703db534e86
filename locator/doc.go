// Package locator reads and writes locators, which contain the position and size of a block of
// bytes, and envelope links. All functions are safe for concurrent use.
//
// Source: specification, section "Locators and Envelope Links"; ROOT class
// RNTupleLocator.
package locator
