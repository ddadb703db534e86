// Package regular opens regular files and nothing else. To open a FIFO waits for a writer, and to
// open a device can have effects of its own; neither can be read at an offset. Files with
// secrets must also belong to the user and be closed to others.
package regular
