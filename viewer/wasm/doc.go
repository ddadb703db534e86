// Command wasm is the engine of the page as a WebAssembly program: load.js starts it in a web
// worker. It reads ranges of files selected by the user, and of URLs.
package main
