// Package drawtest has pictures for the tests of what draws them.
package drawtest
