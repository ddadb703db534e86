// Package bounds computes the least and the greatest of many numbers, for zone maps.
package bounds
