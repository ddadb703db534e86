// Package wiretest checks the descriptions of records against bytes: records are
// written as they were read, every strict prefix is refused, bytes that a newer
// writer added are kept, and damage makes no reader panic or allocate more than in
// proportion to the input. It is for tests only.
package wiretest
