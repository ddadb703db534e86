// Package remotetest has what the tests of files far away share: servers of files that count what
// is asked of them, a link that is slow, comparisons with what is read locally, and a search for
// goroutines that were left behind. It is for tests only.
package remotetest
