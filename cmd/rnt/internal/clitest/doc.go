// Package clitest runs commands of rnt in tests and creates files for them.
package clitest
