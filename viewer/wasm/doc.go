// Command wasm is the engine of the page as a program for browsers: it runs in a worker, where
// load.js starts it. It reads files that the user has chosen, and URLs, in ranges.
package main
