package location

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-rntuple/go-rntuple/remote/objects"
)

// A Location is where a file is: at a URL, or at a path of the local machine. What its String
// returns can be shown to everybody; what opens the file uses Name.
type Location struct {
	name   string
	scheme string   // as it is written; empty for a path
	url    *url.URL // nil for a path, and if the name is not a URL apart from its scheme
}

// Parse parses a name: it is a URL if it begins with a scheme and "://", otherwise a path. A scheme
// has two letters or more, none of them a path separator.
func Parse(name string) Location {
	scheme, _, ok := strings.Cut(name, "://")
	if !ok || len(scheme) < 2 {
		return Location{name: name}
	}
	for i, c := range scheme {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return Location{name: name}
		}
	}
	l := Location{name: name, scheme: scheme}
	l.url, _ = url.Parse(name) // the error shows what may be secret
	return l
}

// Name returns the name as it was parsed, with what may be secret.
func (l Location) Name() string { return l.name }

// IsURL reports whether the file is at a URL.
func (l Location) IsURL() bool { return l.scheme != "" }

// Scheme returns the scheme of the URL in lower case, or the empty string for a path.
func (l Location) Scheme() string { return strings.ToLower(l.scheme) }

// IsObjects reports whether the URL is of an RNTuple in objects, rather than of a file: whether a
// package that has its scheme says so.
func (l Location) IsObjects() bool { return objects.Has(l.Scheme()) }

// URL returns a copy of the URL. It is not ok for a path, and if what follows the scheme makes no
// URL.
func (l Location) URL() (_ *url.URL, ok bool) {
	if l.url == nil {
		return nil, false
	}
	u := *l.url
	return &u, true
}

// String returns a URL without its user, password, query and fragment, which may hold tokens and
// signatures, and a path as it is.
func (l Location) String() string {
	if !l.IsURL() {
		return l.name
	}
	rest := l.name[len(l.scheme)+len("://"):]
	if l.url == nil { // what is before any @ is perhaps meant as a password
		rest = rest[strings.LastIndex(rest, "@")+1:]
	}
	shown, query := rest, ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		shown, query = rest[:i], rest[i:]
	}
	host, path, slash := strings.Cut(shown, "/")
	shown = host[strings.LastIndex(host, "@")+1:]
	if slash {
		shown += "/" + path
	}
	if len(query) > 1 && query[0] == '?' {
		shown += "?…"
	}
	return l.scheme + "://" + shown
}

// Base returns the last element of the path.
func (l Location) Base() string {
	if l.url != nil {
		return path.Base(l.url.Path)
	}
	return filepath.Base(l.name)
}
