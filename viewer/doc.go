// Package viewer has the page that shows what RNTuple files hold, in a browser, without a server of
// its own: schemas, entries, histograms, storage, records byte by byte, and faults.
//
// The page is a folder of static files, which "go generate ./viewer" makes in viewer/dist: its
// sources are in viewer/page, and the library compiled to WebAssembly (viewer/wasm, viewer/engine)
// runs in a worker of it. [Files] returns them, and [Write] makes one file of them and of an
// RNTuple file.
package viewer
