// Package convert has the commands of rnt that convert between RNTuples and other formats: convert
// and arrow.
package convert
