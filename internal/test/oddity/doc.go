// Package oddity makes files for tests: the same ROOT file as other programs might have left
// it, with containers that are unusual and harmless, or that hide an object.
package oddity
