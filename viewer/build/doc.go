// Command build makes the files of the page in viewer/dist: it compiles the engine to WebAssembly,
// compresses it, and bundles the scripts of viewer/page. It needs npm, which fetches the
// decompressor of the page, and zstd.
//
//	go generate ./viewer
//	go run ./viewer/build -fast   # in seconds, but with a larger engine
package main
