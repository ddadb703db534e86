// Package regular opens regular files and nothing else. To open a FIFO waits for a writer, and to
// open a device can have effects of its own; neither can be read at an offset.
package regular
