// Package operation runs operations of package surgery, with a progress bar and warnings of
// what they leave behind.
package operation
