// Package regular opens regular files only. Opening a FIFO blocks until there is a writer, and
// opening a device can have side effects; neither can be read at an offset. Files with secrets must
// also be owned by the user and inaccessible to others.
package regular
