// Package partition divides work into parts of about equal weight.
package partition
