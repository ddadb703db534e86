// Modproxy lays out a folder that Go can use as a module proxy (GOPROXY=file://FOLDER)
// and that has the modules of a workspace, as they are in the working tree, at one version.
//
//	GOWORK=off go run -C .ci/modproxy . WORKSPACE VERSION FOLDER
package main
