// Package pagetest reads the pages written by a sink with an independent, simple implementation, so
// that tests can compare them with the input. It is for tests only.
package pagetest
