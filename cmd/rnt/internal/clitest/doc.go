// Package clitest runs commands of rnt in tests, and makes files for them.
package clitest
