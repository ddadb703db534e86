// Package test tests the page in a real browser, Chromium without a window.
//
// It has a module of its own, outside of the workspace, so that the library needs nothing of what
// drives a browser. The page must have been made by "go generate ./viewer". With RNTUPLE_SHOTS=DIR
// pictures of the page are kept in a folder, and with RNTUPLE_INTEROP=1 the page is compared with
// jsroot.
package test
