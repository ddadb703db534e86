// Package xrootd lets package remote read files from XRootD servers: it registers the schemes root
// and xroot, and roots and xroots, which demand TLS. Import it for that effect.
//
// The path of a URL follows the host and another slash, as in root://host:port//path/file.root, and
// is percent-decoded; the query goes with it to the server. The name of a user in the URL is the
// one that requests are made as. The default port is 1094.
//
// Files on a server share one connection. It is encrypted if the server asks for that, or the
// scheme demands it; a server to which another one redirects must then encrypt, too. The ways of
// authentication that are known are ztn, which is a bearer token over TLS, unix and host, but not
// gsi and krb5; package https says where tokens and certificates are found. A token, and the query
// of the URL, go to the host and port in the URL alone, unlike with XRootD's own client: a server
// to which another one redirects gets the query that comes with the redirection.
//
// XRootD tells versions of a file apart by size and time, in seconds. Both are asked for beside
// each read, and when a file is opened anew because its connection was lost. They must not have
// changed; those of replicas must be equal.
//
// A server may ask to wait, as for a file that is on tape. It gets Options.MaxWait of package
// remote for a request, whatever the timeout is.
//
// Source: The XRootD Protocol, version 5.
package xrootd
