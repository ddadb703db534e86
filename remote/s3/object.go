package s3

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/go-rntuple/go-rntuple/remote"
)

// An object is the name of an object, and who asks for it.
type object struct {
	identity
	bucket, key, version string
}

// An identity is who asks.
type identity struct {
	*settings
	anonymous bool
	region    string // of the bucket
}

// newObject returns the object of a URL.
func newObject(u *url.URL, o *remote.Options) (*object, error) {
	key := u.RawPath
	if key == "" {
		key = (&url.URL{Path: u.Path}).EscapedPath()
	}
	b := &object{bucket: u.Host, key: strings.TrimPrefix(key, "/"), identity: identity{anonymous: o.Anonymous}}
	query := u.Query()
	b.version = query.Get("versionId")
	query.Del("versionId")
	switch {
	case u.User != nil:
		return nil, errors.New("credentials are not taken from a URL; see AWS_PROFILE and AWS_ACCESS_KEY_ID")
	case !isBucket(b.bucket):
		return nil, errors.New("the URL names no bucket; it is s3://BUCKET/KEY")
	case b.key == "":
		return nil, errors.New("the URL names no object; it is s3://BUCKET/KEY")
	case len(query) > 0 || u.RawQuery != "" && b.version == "":
		return nil, errors.New(`"?" is not part of a key, and only "?versionId=ID" may follow it`)
	case u.Fragment != "":
		return nil, errors.New(`"#" is not part of a key`)
	}
	var err error
	if b.settings, err = load(); err != nil {
		return nil, err
	}
	b.region = regionOf(b.place(), b.settings.region)
	return b, nil
}

// isBucket reports whether a name can be that of a bucket.
func isBucket(name string) bool {
	return name != "" && !strings.ContainsAny(name, ":/?#[]@%\\ ")
}

// url returns where the object is.
func (o *object) url() *url.URL {
	u := &url.URL{Scheme: "https"}
	path := "/" + o.key
	switch {
	case o.endpoint != nil:
		u.Scheme, u.Host = o.endpoint.Scheme, o.endpoint.Host
		path = o.endpoint.Path + "/" + o.bucket + path
	default:
		u.Host = "s3." + o.region + ".amazonaws.com"
		if strings.HasPrefix(o.region, "cn-") {
			u.Host += ".cn"
		}
		if isLabel(o.bucket) {
			u.Host = o.bucket + "." + u.Host
		} else {
			path = "/" + o.bucket + path
		}
	}
	u.Path, u.RawPath = path, escape(path)
	if o.version != "" {
		u.RawQuery = url.Values{"versionId": {o.version}}.Encode()
	}
	return u
}

// isLabel reports whether a name can be one part of a host's name, for which a certificate of
// Amazon's holds.
func isLabel(name string) bool {
	return len(name) < 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		!strings.HasPrefix(name, "-") && !strings.HasSuffix(name, "-")
}

// escape returns a path as S3 has it in signatures: each byte is escaped but for letters, digits
// and four others.
func escape(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("/-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// hashHeader is the header with the SHA-256 of a request's body.
const hashHeader = "X-Amz-Content-Sha256"

var noBody = hex.EncodeToString(sha256.New().Sum(nil))

// sign signs a request, unless there are no credentials. It signs only what it must: programs on
// the way to the store may change other headers.
func (o *identity) sign(r *http.Request) error {
	if o.anonymous {
		return nil
	}
	c, ok, err := o.credentials(r.Context())
	if err != nil || !ok {
		return err
	}
	if r.Header.Get(hashHeader) == "" {
		r.Header.Set(hashHeader, noBody)
	}
	u := *r.URL
	bare := (&http.Request{Method: r.Method, URL: &u, Header: http.Header{}}).WithContext(r.Context())
	for name, values := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") && name != "X-Amz-Date" && name != "X-Amz-Security-Token" {
			bare.Header[name] = values
		}
	}
	err = o.signer.SignHTTP(r.Context(), c, bare, r.Header.Get(hashHeader), "s3", o.region, time.Now(),
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		return err
	}
	r.URL.RawQuery = u.RawQuery
	for name, values := range bare.Header {
		r.Header[name] = values
	}
	return nil
}

// regions has the regions of buckets that stores have told, by their places.
var regions sync.Map

// place returns a name of the bucket that no other bucket of any store has.
func (o *object) place() string {
	if o.endpoint == nil {
		return o.bucket
	}
	return o.endpoint.String() + "/" + o.bucket
}

// regionOf returns the region of the bucket at a place.
func regionOf(place, unless string) string {
	if r, ok := regions.Load(place); ok {
		return r.(string)
	}
	return unless
}

// moveTo makes the object one of another region.
func (o *object) moveTo(region string) {
	o.region = region
	regions.Store(o.place(), region)
}
