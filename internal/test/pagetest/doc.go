// Package pagetest reads the pages that a sink has written, slowly and with code of its own,
// for tests that compare them with what was to be written. It is for tests only.
package pagetest
