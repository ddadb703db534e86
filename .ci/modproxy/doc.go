// Modproxy writes a Go module proxy (GOPROXY=file://FOLDER) that serves all modules of a workspace,
// as they are in the working tree, at a single version.
//
//	GOWORK=off go run -C .ci/modproxy . WORKSPACE VERSION FOLDER
package main
