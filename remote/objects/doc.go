// Package objects has what readers of RNTuples in objects share with those of stores: how offsets
// stand for objects, which schemes of URLs are of objects, and what a store tells beside the bytes
// of an object.
//
// Each page and each envelope of such an RNTuple is an object. To those who read it, an offset
// stands for the object, so that all that is about offsets in files serves objects, too.
package objects
