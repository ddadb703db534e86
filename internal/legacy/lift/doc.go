// Package lift converts descriptors of pre-release formats to format 1. It handles the differences
// in how the dialects describe field trees and column types.
package lift
