// Package bufpool lends memory for pages, and keeps what is given back for the next one who asks.
// To allocate it anew, zero it and have the garbage collector find that it is no longer used takes
// longer than decoding.
package bufpool
