// Package objects defines what readers of RNTuples in object stores share with the implementations
// of stores: the mapping of objects to offsets, the URL schemes, and the attributes that a store
// returns with an object.
//
// Each page and each envelope of such an RNTuple is an object. Readers address objects by virtual
// offsets, so that code for file offsets also works with objects.
package objects
