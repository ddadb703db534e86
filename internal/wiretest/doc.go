// Package wiretest checks descriptions of records against bytes, for tests only:
// what is read is written as it was, every strict prefix is refused, bytes that
// a newer writer added are kept, and no damage makes the reader panic or
// allocate more than in proportion to the input.
package wiretest
