// Package limits contains the size limits of stores, as variables so that tests can change them.
package limits
