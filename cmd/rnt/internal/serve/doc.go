// Package serve has the commands of rnt that bring files to other programs: serve, as streams of
// Arrow Flight, and page, in a browser.
package serve
