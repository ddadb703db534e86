// Package bounds computes the minimum and maximum of slices of numbers, for zone maps.
package bounds
