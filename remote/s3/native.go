package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/remote/https"
	"github.com/go-rntuple/go-rntuple/remote/objects"
)

func init() {
	for _, scheme := range []string{"ntpl+s3+http", "ntpl+s3+https"} {
		objects.Register(scheme)
		remote.Register(scheme, openNative)
	}
}

// A native reads an RNTuple in ROOT's S3 layout: one object for each envelope and each page, with
// its checksum. The anchor is at the base URL. Envelopes are compressed as in a file, and are all
// of their objects.
//
// Source: ROOT classes RPageSinkS3 (pull request 22653) and RPageSourceS3 (23066).
type native struct {
	identity
	client *https.Client
	base   *url.URL
	stored []byte                            // the anchor
	object func(id uint64) (*url.URL, error) // by the anchor's template
}

// openNative returns the backend for a URL that is "ntpl+s3+" and the base URL.
func openNative(u *url.URL, o *remote.Options) (remote.Backend, error) {
	base := &url.URL{Scheme: strings.TrimPrefix(strings.ToLower(u.Scheme), "ntpl+s3+"), Host: u.Host,
		Path: strings.TrimRight(u.Path, "/")}
	switch {
	case u.User != nil:
		return nil, errors.New("credentials are not taken from a URL; see S3_ACCESS_KEY and AWS_PROFILE")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New(`the URL must not have a "?" or a "#"`)
	case base.Host == "" || base.Path == "":
		return nil, errors.New("the URL names no object; it is ntpl+s3+https://HOST/BUCKET/PATH")
	}
	who, err := nativeIdentity(o)
	if err != nil {
		return nil, err
	}
	client, err := https.NewClient()
	if err != nil {
		return nil, err
	}
	return &native{identity: who, client: client, base: canonicalURL(base)}, nil
}

// canonicalURL returns a URL whose path is escaped as in signatures.
func canonicalURL(u *url.URL) *url.URL {
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: escape(u.Path)}
}

// nativeIdentity returns who asks: by the variables that ROOT knows, or as for other URLs.
//
// Source: ROOT class RCurlConnection, SetCredentialsFromEnvironment.
func nativeIdentity(o *remote.Options) (identity, error) {
	region := os.Getenv("S3_REGION")
	if region != "" && !isRegion(region) {
		return identity{}, fmt.Errorf("S3_REGION: %q is not the name of a region", region)
	}
	s, err := load()
	if key := os.Getenv("S3_ACCESS_KEY"); key != "" {
		secret := os.Getenv("S3_SECRET_KEY")
		if secret == "" && !o.Anonymous {
			return identity{}, errors.New("S3_ACCESS_KEY is set, but S3_SECRET_KEY is not")
		}
		c := aws.Credentials{AccessKeyID: key, SecretAccessKey: secret}
		usual := "us-east-1"
		if err == nil {
			usual = s.region
		}
		s, err = &settings{region: usual, signer: v4.NewSigner(), provider: aws.CredentialsProviderFunc(
			func(context.Context) (aws.Credentials, error) { return c, nil })}, nil
	}
	if err != nil {
		return identity{}, err
	}
	return identity{settings: s, anonymous: o.Anonymous, region: cmp.Or(region, s.region)}, nil
}

// maxNativeAnchor is the limit for the size of an anchor in bytes, which is that of ROOT.
const maxNativeAnchor = 1 << 20

// Open reads the anchor. It finds out in which region the bucket is, if the one that is configured
// is another one.
func (n *native) Open(ctx context.Context, _ int64, arrived func(int)) (info remote.Info, err error) {
	text, version, err := n.anchor(ctx, arrived)
	var wrong *wrongRegion
	if errors.As(err, &wrong) {
		n.region = wrong.region
		text, version, err = n.anchor(ctx, arrived)
	}
	if err != nil {
		return info, err
	}
	a, err := parseNative(text)
	if err != nil {
		return info, err
	}
	if n.object, err = a.objects(n.base); err != nil {
		return info, err
	}
	n.stored, err = a.serialize()
	return remote.Info{Size: objects.End, Version: version}, err
}

// anchor returns the anchor and its version.
func (n *native) anchor(ctx context.Context, arrived func(int)) (text []byte, version string, err error) {
	resp, err := n.request(ctx, http.MethodGet, n.base, arrived)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(io.LimitReader(resp.Body, maxNativeAnchor+1))
	if err == nil && len(text) > maxNativeAnchor {
		err = &frame.FormatError{Path: "anchor", Err: frame.Unsupported("more than %d bytes", maxNativeAnchor)}
	}
	return text, strings.TrimSpace(resp.Header.Get("ETag") + " " + resp.Header.Get("Last-Modified")), err
}

// Read reads objects.
func (n *native) Read(ctx context.Context, _ remote.Info, ranges []remote.Range,
	arrived func(int)) (filled int, err error) {
	for i, r := range ranges {
		id := objects.At(r.Offset)
		if err := n.read(ctx, id, r.Data, arrived); err != nil {
			return i, fmt.Errorf("object %d: %w", id, err)
		}
	}
	return len(ranges), nil
}

// read fills data with an object.
func (n *native) read(ctx context.Context, id uint64, data []byte, arrived func(int)) error {
	resp, err := n.ask(ctx, http.MethodGet, id, arrived)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if size := resp.ContentLength; size != int64(len(data)) {
		return frame.Corrupt("%s, expected %d", sizeOf(size), len(data))
	}
	_, err = io.ReadFull(resp.Body, data)
	if err == nil { // so that the connection can be used again
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return err
}

func sizeOf(n int64) string {
	if n < 0 {
		return "the store does not say how large it is"
	}
	return fmt.Sprintf("%d bytes", n)
}

// Anchor implements objects.Backend.
func (n *native) Anchor() []byte { return n.stored }

// ObjectSize implements objects.Backend.
func (n *native) ObjectSize(ctx context.Context, offset int64, arrived func(int)) (int64, error) {
	id := objects.At(offset)
	resp, err := n.ask(ctx, http.MethodHead, id, arrived)
	if err != nil {
		return 0, fmt.Errorf("object %d: %w", id, err)
	}
	resp.Body.Close()
	if resp.ContentLength < 0 {
		return 0, fmt.Errorf("object %d: %w", id, frame.Unsupported("%s", sizeOf(-1)))
	}
	return resp.ContentLength, nil
}

// Ranges implements remote.Backend: each object takes a request.
func (n *native) Ranges() (int, int64, int64) { return 1, 0, 0 }

// Close implements remote.Backend.
func (n *native) Close() error {
	n.client.Close()
	return nil
}

// ask makes a request about an object.
func (n *native) ask(ctx context.Context, method string, id uint64, arrived func(int)) (*http.Response, error) {
	u, err := n.object(id)
	if err != nil {
		return nil, err
	}
	return n.request(ctx, method, u, arrived)
}

// request makes a request, whose response is of status 200. It is signed unless it goes to another
// host than the user named. Redirects are not followed.
func (n *native) request(ctx context.Context, method string, u *url.URL, arrived func(int)) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", "go-rntuple")
	if u.Scheme == n.base.Scheme && strings.EqualFold(u.Host, n.base.Host) {
		if err := n.sign(r); err != nil {
			return nil, fmt.Errorf("%w: %w", fs.ErrPermission, err)
		}
	}
	resp, err := n.client.Do(r)
	if err != nil {
		return nil, err
	}
	arrived(0)
	encoding := resp.Header.Get("Content-Encoding")
	switch {
	case resp.StatusCode != http.StatusOK:
		err = failure(resp, n.region)
	case encoding != "" && encoding != "identity":
		err = fmt.Errorf("the store sends the object encoded, as %q", encoding)
	default:
		resp.Body = &meter{resp.Body, arrived}
		return resp, nil
	}
	resp.Body.Close()
	return nil, err
}

// A meter reports the bytes that are read.
type meter struct {
	io.ReadCloser
	arrived func(int)
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	if n > 0 {
		m.arrived(n)
	}
	return n, err
}
