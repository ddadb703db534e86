// Command build generates the files of the page in viewer/dist: it compiles the engine to
// WebAssembly, compresses it, and bundles the scripts of viewer/page. It requires npm, to download
// the page's decompressor, and zstd.
//
//	go generate ./viewer
//	go run ./viewer/build -fast   # faster, but with a larger engine
package main
