// Package https registers the schemes http and https, and dav and davs for WebDAV, with package
// remote, which then reads and writes files on web servers. Import it for this side effect.
//
// The server must support range requests (RFC 9110, section 14), or the file must be small: see
// remote.Options.Whole. Multiple ranges are combined into one request if the server supports it.
//
// With http and https, files are written by PUT, conditional on the file not existing
// (If-None-Match) unless it may be replaced. Since not all servers support conditions, the
// existence of the file is also checked before. Whether readers can see a partial file depends on
// the server: object stores and nginx publish the file when it is complete; some storage systems
// publish data as it arrives, and keep it if the connection breaks. The remains of a new file are
// then removed, if possible. With dav and davs (WebDAV, RFC 4918), a file is written under a
// temporary name in its folder and then renamed by MOVE, so that it appears atomically; this
// requires permission to move and delete. In both cases, the size reported by the server is
// verified.
//
// Over https, and to the local host, requests carry a bearer token if WLCG Bearer Token Discovery
// 1.0 finds one: BEARER_TOKEN, the file BEARER_TOKEN_FILE, bt_uID in XDG_RUNTIME_DIR, or
// /tmp/bt_uID, where ID is the user ID. It is an error if such a file is a symbolic link or
// accessible to others; the last two are ignored if another user owns them. A user and password in
// the URL take precedence. Credentials are never sent to another host on redirects, and never
// appear in errors. Redirects from https to http are rejected.
//
// If X509_USER_PROXY, or X509_USER_CERT and X509_USER_KEY, name files, they contain the client
// certificate, which is read again for each connection. The certificate authorities in the folder
// X509_CERT_DIR are trusted in addition to those of the system. HTTP_PROXY, HTTPS_PROXY and
// NO_PROXY are used as by net/http.
package https
