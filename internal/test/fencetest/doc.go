// Package fencetest has memory between two pages that must not be accessed: reading
// or writing past its ends, as assembly may do by mistake, ends the test with a fault.
// It is for tests only.
package fencetest
