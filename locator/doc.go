// Package locator reads and writes locators, which say where a block of bytes
// lies, and envelope links. All functions are safe for concurrent use.
//
// Source: specification, section "Locators and Envelope Links"; ROOT class
// RNTupleLocator.
package locator
