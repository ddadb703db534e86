// Package cut divides work into parts of about equal weight.
package cut
