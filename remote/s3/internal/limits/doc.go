// Package limits has the sizes of what a store takes, as variables for tests.
package limits
