package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"

	"github.com/go-rntuple/go-rntuple/internal/location"
)

// A Backend reads one file with one protocol. Each method makes a single attempt; File implements
// retries, measurement and the limit of concurrent requests. It must be safe for concurrent use.
type Backend interface {
	// Open requests the size and version of the file and, if possible, also its last bytes, about
	// tail, and its first bytes. It calls arrived with 0 when the response begins, and then with
	// the number of bytes each time data arrives; arrived may be called by any goroutine.
	Open(ctx context.Context, tail int64, arrived func(n int)) (Info, error)
	// Read fills ranges, which are in order and do not overlap, with one request, and returns the
	// number of leading ranges that are filled. If the file is not the version described by info,
	// the error wraps ErrChanged. If the server rejects this many ranges, it wraps ErrTooMany, and
	// Ranges returns a lower limit from then on. See Open for arrived.
	Read(ctx context.Context, info Info, ranges []Range, arrived func(n int)) (filled int, err error)
	// Ranges returns the maximum number of ranges per request, the largest gap in bytes across
	// which ranges count as one, and the minimum number of bytes per request if more are needed.
	Ranges() (n int, gap, least int64)
	Close() error
}

// Info describes a file when it was opened.
type Info struct {
	Size    int64  // in bytes
	Version string // identifies the content, such as an ETag; empty if unknown
	Tail    []byte // the last bytes of the file, if read by the opening request
	Head    []byte // the first bytes, likewise
}

// An Opener returns the Backend for a URL with its scheme. It must not make requests.
type Opener func(u *url.URL, o *Options) (Backend, error)

var schemes = struct {
	sync.RWMutex
	openers   map[string]Opener
	uploaders map[string]Uploader
}{openers: map[string]Opener{}, uploaders: map[string]Uploader{}}

// Register registers a URL scheme. It is called by packages that implement a protocol, and panics
// if the scheme is already registered.
func Register(scheme string, o Opener) {
	schemes.Lock()
	defer schemes.Unlock()
	if schemes.openers[scheme] != nil {
		panic("remote: the scheme " + scheme + " is registered twice")
	}
	schemes.openers[scheme] = o
}

// Schemes returns the registered schemes, sorted.
func Schemes() (all []string) {
	schemes.RLock()
	defer schemes.RUnlock()
	return slices.Sorted(maps.Keys(schemes.openers))
}

// IsURL reports whether a name is a URL rather than the path of a local file, that is, whether it
// begins with a scheme and "://". A scheme has at least two characters, none of them a path
// separator.
func IsURL(name string) bool { return location.Parse(name).IsURL() }

// importOf says which package has a scheme that is not known.
var importOf = map[string]string{
	"http": "remote/https", "https": "remote/https", "dav": "remote/https", "davs": "remote/https",
	"root": "remote/xrootd", "roots": "remote/xrootd", "xroot": "remote/xrootd", "xroots": "remote/xrootd",
	"s3": "remote/s3", "ntpl+s3+http": "remote/s3", "ntpl+s3+https": "remote/s3",
}

// backend returns the Backend for a URL, and the name of its host.
func backend(at location.Location, o *Options) (b Backend, host string, err error) {
	fail := func(err error) (Backend, string, error) {
		return nil, "", &Error{Op: "open", URL: at.String(), Err: err}
	}
	schemes.RLock()
	open := schemes.openers[at.Scheme()]
	schemes.RUnlock()
	if pkg, ok := importOf[at.Scheme()]; open == nil && ok {
		return fail(fmt.Errorf("%w %q; import github.com/go-rntuple/go-rntuple/%s", ErrScheme, at.Scheme(), pkg))
	} else if open == nil {
		return fail(fmt.Errorf("%w %q; known are %q", ErrScheme, at.Scheme(), Schemes()))
	}
	u, ok := at.URL()
	if !ok {
		return fail(errNotURL)
	}
	host = u.Scheme + "://" + u.Host
	if b, err = open(u, o); err != nil {
		return fail(err)
	}
	return b, host, nil
}

var errNotURL = errors.New("not a URL")
