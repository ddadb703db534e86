// Package randtest generates random C++ types and values. It is for tests only.
package randtest
