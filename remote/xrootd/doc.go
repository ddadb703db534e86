// Package xrootd registers the schemes root and xroot, and roots and xroots, which require TLS,
// with package remote, which then reads files from XRootD servers. Import it for this side effect.
//
// The path of a URL is separated from the host by an additional slash, as in
// root://host:port//path/file.root, and is percent-decoded; the query is sent to the server with
// it. A user name in the URL is used to log in. The default port is 1094.
//
// Files on a server share one connection. It is encrypted if the server or the scheme requires TLS;
// redirection targets must then use TLS, too. Supported authentication protocols are ztn (a bearer
// token over TLS), unix and host, but not gsi and krb5; see package https for the locations of
// tokens and certificates. Unlike with XRootD's own client, a token and the query of the URL are
// sent only to the host and port in the URL: a redirection target receives the query of the
// redirection.
//
// A version of a file is identified by its size and its modification time in seconds. Both are
// checked with each read, and when a file is reopened after a lost connection. They must not
// change, and must be equal for all replicas.
//
// A server can make the client wait, for example for a file on tape. The limit per request is
// remote.Options.MaxWait, regardless of the timeout.
//
// Source: The XRootD Protocol, version 5.
package xrootd
