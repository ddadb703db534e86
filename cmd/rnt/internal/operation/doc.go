// Package operation runs operations of package surgery with a progress bar, and warns about what
// they did not copy.
package operation
