// Package oddity generates variants of a ROOT file for tests, as other programs might write them:
// with containers that are unusual but harmless, or that hide an object.
package oddity
