// Package arrowtest makes RNTuples for the tests of the packages that convert them.
package arrowtest
