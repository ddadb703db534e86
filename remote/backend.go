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

// A Backend reads one file by one protocol. Its methods make one attempt each: a File repeats them,
// measures them and limits how many are under way. It must be safe for concurrent use.
type Backend interface {
	// Open makes the request that tells the size and the version of the file, and that reads some
	// of its last bytes, about tail of them, and of its first ones, if it can. It calls arrived
	// with the number of bytes each time that some arrive, first with 0 when the answer begins. It
	// may be called by any goroutine.
	Open(ctx context.Context, tail int64, arrived func(n int)) (Info, error)
	// Read fills ranges, which are in order and do not overlap, with one request, and returns how
	// many of the first ones are filled. If the file is not the one that info describes, the error
	// wraps ErrChanged; if the server does not take so many ranges, it wraps ErrTooMany, and Ranges
	// says less from then on. For arrived see Open.
	Read(ctx context.Context, info Info, ranges []Range, arrived func(n int)) (filled int, err error)
	// Ranges returns how many ranges, with gaps between them, a request may have, the largest gap
	// in bytes that does not count as one, and how many bytes a request should have at least if
	// more are wanted.
	Ranges() (n int, gap, least int64)
	Close() error
}

// Info describes a file when it was opened.
type Info struct {
	Size    int64  // in bytes
	Version string // what tells this content from others, as an ETag; empty if the server does not say
	Tail    []byte // the last bytes of the file, if the request that opened it also read them
	Head    []byte // the first bytes, if it read them, too
}

// An Opener returns the Backend for a URL of a scheme. It makes no requests.
type Opener func(u *url.URL, o *Options) (Backend, error)

var schemes = struct {
	sync.RWMutex
	openers   map[string]Opener
	uploaders map[string]Uploader
}{openers: map[string]Opener{}, uploaders: map[string]Uploader{}}

// Register makes a scheme of URLs known. It is for packages that have a protocol, and panics if the
// scheme is known already.
func Register(scheme string, o Opener) {
	schemes.Lock()
	defer schemes.Unlock()
	if schemes.openers[scheme] != nil {
		panic("remote: the scheme " + scheme + " is registered twice")
	}
	schemes.openers[scheme] = o
}

// Schemes returns the schemes that are known, in order.
func Schemes() (all []string) {
	schemes.RLock()
	defer schemes.RUnlock()
	return slices.Sorted(maps.Keys(schemes.openers))
}

// IsURL reports whether a name is a URL, rather than the path of a local file: whether it begins
// with a scheme and "://". A scheme has two letters or more, none of them a path separator.
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
