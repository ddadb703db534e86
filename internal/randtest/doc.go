// Package randtest makes random C++ types and values of them. It is for tests
// only.
package randtest
