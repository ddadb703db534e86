package xrootd

import (
	"cmp"
	"encoding/binary"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// defaultPort is the one that IANA knows.
const defaultPort = "1094"

// A place is where a file is, or where someone knows where it is.
type place struct {
	host  string // as in the URL, without brackets
	port  string
	tls   bool   // demanded
	login string // what the server that has redirected here wants to be said at the login
	path  string
	query string
}

func (p place) address() string { return net.JoinHostPort(p.host, p.port) }

// serves reports whether the server at a place is that of another one.
func (p place) serves(other place) bool {
	return strings.EqualFold(p.host, other.host) && p.port == other.port
}

// file returns the name of the file as servers take it.
func (p place) file() string {
	if p.query == "" {
		return p.path
	}
	return p.path + "?" + p.query
}

// placeOf returns the place that a URL names.
func placeOf(u *url.URL) (place, error) {
	p, err := serverOf(u)
	switch {
	case err != nil:
		return p, err
	case strings.Trim(p.path, "/") == "":
		return p, errors.New("the URL names no file")
	case strings.ContainsAny(p.path, "\x00\n\r?"):
		return p, errors.New("the path in the URL has a character that XRootD does not take")
	}
	p.query = strings.Trim(u.RawQuery, "&")
	return p, nil
}

// serverOf returns the place that a URL names, which may have no path.
func serverOf(u *url.URL) (place, error) {
	p := place{host: u.Hostname(), port: cmp.Or(u.Port(), defaultPort), path: u.Path}
	switch strings.ToLower(u.Scheme) {
	case "root", "xroot":
	case "roots", "xroots":
		p.tls = true
	default:
		return p, errors.New("not a URL of XRootD")
	}
	if p.host == "" {
		return p, errors.New("the URL names no host")
	}
	if strings.HasPrefix(p.path, "//") {
		p.path = p.path[1:]
	}
	return p, nil
}

// A redirection is the error of a request that has to be made at another place.
type redirection struct {
	place // without a path, it is the same as before; the query is only what the server sends
}

func (r *redirection) Error() string { return "redirected to " + r.host }

// parseRedirect returns the redirection in the body of an answer: a port, and "host?query?login",
// or no port and a URL.
func parseRedirect(body []byte) (*redirection, error) {
	if len(body) < 5 {
		return nil, violation("a redirection of %d bytes, want 5 or more", len(body))
	}
	port := int32(binary.BigEndian.Uint32(body))
	name, query, _ := strings.Cut(cString(body[4:]), "?")
	query, login, _ := strings.Cut(query, "?")
	to := &redirection{place{query: strings.Trim(query, "&"), login: login}}
	if port < 0 {
		u, err := url.Parse(name)
		if err != nil {
			return nil, violation("a redirection to what is not a URL")
		}
		p, err := serverOf(u)
		if err != nil {
			return nil, violation("a redirection, but %w", err)
		}
		if strings.Trim(p.path, "/") == "" {
			p.path = ""
		}
		to.host, to.port, to.tls, to.path = p.host, p.port, p.tls, p.path
		return to, nil
	}
	to.host = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if to.port = strconv.Itoa(int(port)); port == 0 {
		to.port = defaultPort
	}
	if to.host == "" || port > 0xffff || strings.ContainsAny(to.host, "/@[] \t\r\n") {
		return nil, violation("a redirection to %q, port %d", name, port)
	}
	return to, nil
}

// follow returns the place to which a redirection from this one leads. What the user has put into
// the query of the URL goes to the host and port of the URL alone.
func (p place) follow(to *redirection, origin place) place {
	next := to.place
	next.tls = next.tls || p.tls
	if next.path == "" {
		next.path = p.path
	}
	if next.serves(origin) {
		next.query = join(origin.query, next.query)
	}
	return next
}

// join returns a query of two parts.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
}
