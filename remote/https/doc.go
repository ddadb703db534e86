// Package https lets package remote read files from web servers and write them: it registers the
// schemes http and https, and their WebDAV names dav and davs. Import it for that effect.
//
// A server must be able to send ranges of a file (RFC 9110, section 14), or the file must be small:
// see remote.Options.Whole. Requests ask for several ranges at once where the server can send them.
//
// Files are written as well. Under http and https they are written by PUT, on the condition that
// there is none yet (If-None-Match) unless they may be replaced. It depends on the server whether
// readers can find a part of a file: object stores and nginx show it once it is complete, some
// storage systems show what has arrived, and keep that when the connection breaks. What is left of
// a new file is removed then, as far as that is possible. Not all servers know conditions; they are
// asked before whether there is a file. Under dav and davs, for WebDAV (RFC 4918), a file is
// written under a temporary name in its folder and then given its own by MOVE, so that readers find
// all of it or nothing; that needs the right to move and delete. In both cases the size that the
// server says is compared.
//
// Over https, and to this machine, requests carry a bearer token if there is one, found in the
// order of the WLCG Bearer Token Discovery 1.0: BEARER_TOKEN, the file BEARER_TOKEN_FILE, bt_uID in
// XDG_RUNTIME_DIR, /tmp/bt_uID, ID being the number of the user. It is an error if such a file is a
// symbolic link, or others may access it; the last two are passed over if they belong to another
// user. User and password in the URL take precedence. Neither is ever sent to another host, to
// which the server redirects, nor shown in an error. Redirects from https to http are refused.
//
// If X509_USER_PROXY, or X509_USER_CERT and X509_USER_KEY, name files, they are the client's
// certificate, read anew for each connection. The certificates of authorities in the folder
// X509_CERT_DIR are trusted besides those of the system. HTTP_PROXY, HTTPS_PROXY and NO_PROXY are
// as for net/http.
package https
