package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/remote/https"
	"github.com/go-rntuple/go-rntuple/remote/s3/internal/limits"
)

// atOnce is how many parts are sent at a time.
const atOnce = 4

// An uploading is an upload of an object.
type uploading struct {
	*remote.Transfer
	*object
	client *https.Client
	found  bool // the region is known for certain, so that it is not changed any more
}

func upload(ctx context.Context, t *remote.Transfer) error {
	o, err := newObject(t.URL, t.Options)
	if err != nil {
		return err
	}
	if o.version != "" {
		return errors.New("a version of an object cannot be written")
	}
	client, err := https.NewClient()
	if err != nil {
		return err
	}
	defer client.Close()
	u := &uploading{Transfer: t, object: o, client: client}
	if t.Size > limits.Put {
		return u.inParts(ctx)
	}
	return u.do(ctx, http.MethodPut, nil, u.condition(), body{t.From, 0, t.Size}, nil)
}

// condition returns the header of the request that makes the object visible.
func (u *uploading) condition() http.Header {
	if u.Replace {
		return nil
	}
	return http.Header{"If-None-Match": {"*"}}
}

// inParts writes the object in parts, of which it consists once they are all there.
func (u *uploading) inParts(ctx context.Context) error {
	id, err := u.begin(ctx)
	if err != nil {
		return err
	}
	u.found = true
	query := url.Values{"uploadId": {id}}
	err = u.parts(ctx, id, query)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if failed := u.do(ctx, http.MethodDelete, query, nil, body{}, nil); failed != nil &&
			!errors.Is(failed, fs.ErrNotExist) {
			err = fmt.Errorf("%w; the parts that were sent are left in the store, as upload %s", err, id)
		}
	}
	return err
}

// begin begins an upload of parts and returns its ID.
func (u *uploading) begin(ctx context.Context) (string, error) {
	var begun struct {
		XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
		UploadID string   `xml:"UploadId"`
	}
	err := u.do(ctx, http.MethodPost, url.Values{"uploads": {""}}, nil, body{}, func(text []byte) error {
		if err := xml.Unmarshal(text, &begun); err != nil || begun.UploadID == "" {
			return errors.New("the store does not say how to send parts of the object")
		}
		return nil
	})
	return begun.UploadID, err
}

// A part is one that is in the store.
type part struct {
	Number int    `xml:"PartNumber"`
	ETag   string `xml:"ETag"`
}

// parts sends all parts and puts them together.
func (u *uploading) parts(ctx context.Context, id string, query url.Values) error {
	size := max(limits.Part, (u.Size+limits.Parts-1)/limits.Parts)
	all := make([]part, (u.Size+size-1)/size)
	err := each(len(all), func(i int) error {
		at := int64(i) * size
		all[i].Number = i + 1
		query := url.Values{"uploadId": {id}, "partNumber": {strconv.Itoa(i + 1)}}
		header, err := u.send(ctx, http.MethodPut, query, nil, body{u.From, at, min(size, u.Size-at)}, nil)
		if all[i].ETag = header.Get("ETag"); err == nil && all[i].ETag == "" {
			err = errors.New("the store does not say which part it has got")
		}
		return err
	})
	if err != nil {
		return err
	}
	text, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUpload"`
		Part    []part
	}{Part: all})
	if err != nil {
		return err
	}
	return u.do(ctx, http.MethodPost, query, u.condition(), body{bytes.NewReader(text), 0, int64(len(text))}, u.completed)
}

// each calls do for the indexes from 0 to n-1, for atOnce of them at a time. No more calls begin
// once one has failed; its error, or that of the lowest index, is the result.
func each(n int, do func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	var all sync.WaitGroup
	errs := make([]error, n)
	for range min(atOnce, n) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && !failed.Load(); i = next.Add(1) - 1 {
				if errs[i] = do(int(i)); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// completed reads the answer to the last request, which is of status 200 before S3 knows whether it
// succeeds.
func (u *uploading) completed(text []byte) error {
	var root struct {
		XMLName xml.Name
		answer
	}
	switch err := xml.Unmarshal(text, &root); {
	case err != nil:
		return &remote.Temporary{Err: io.ErrUnexpectedEOF}
	case root.XMLName.Local == "CompleteMultipartUploadResult":
		return nil
	case root.XMLName.Local == "Error":
		root.status = http.StatusOK
		if root.Code == "PreconditionFailed" {
			return fs.ErrExist
		}
		return root.answer.failure(&http.Response{}, u.region)
	}
	return fmt.Errorf("the store answers with %.40q", root.XMLName.Local)
}

// A body is a part of a file.
type body struct {
	from  io.ReaderAt // nil: none
	at, n int64
}

// sum returns the SHA-256 of a body.
func (b body) sum(ctx context.Context) (string, error) {
	h := sha256.New()
	buffer := make([]byte, min(b.n, 1<<20))
	for at := int64(0); at < b.n; {
		p := buffer[:min(b.n-at, int64(len(buffer)))]
		n, err := b.from.ReadAt(p, b.at+at)
		if n < len(p) {
			return "", fmt.Errorf("reading what is to be written: %w", err)
		}
		h.Write(p)
		at += int64(n)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// do is send without what it returns.
func (u *uploading) do(ctx context.Context, method string, query url.Values, header http.Header, b body,
	read func([]byte) error) error {
	_, err := u.send(ctx, method, query, header, b, read)
	return err
}

// send makes a request until it succeeds, and returns the header of the response. It calls read
// with the response's body.
func (u *uploading) send(ctx context.Context, method string, query url.Values, header http.Header, b body,
	read func([]byte) error) (from http.Header, err error) {
	sum, err := b.sum(ctx)
	if err != nil {
		return nil, err
	}
	err = u.Try(ctx, func(ctx context.Context, sent func(int)) error {
		once := func() (err error) {
			from, err = u.once(ctx, method, query, header, b, sum, sent, read)
			return err
		}
		err := once()
		var wrong *wrongRegion
		if errors.As(err, &wrong) && !u.found {
			u.moveTo(wrong.region)
			err = once()
		}
		return err
	})
	return from, err
}

// once makes a request.
func (u *uploading) once(ctx context.Context, method string, query url.Values, header http.Header, b body, sum string,
	sent func(int), read func([]byte) error) (http.Header, error) {
	to := u.url()
	to.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, method, to.String(), nil)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("User-Agent", "go-rntuple")
	r.Header.Set(hashHeader, sum)
	if b.from != nil {
		https.SetBody(r, b.from, b.at, b.n, sent)
	}
	if err := u.sign(r); err != nil {
		return nil, fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	resp, err := u.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	sent(0)
	if resp.StatusCode >= 300 {
		if err = failure(resp, u.region); errors.Is(err, remote.ErrChanged) {
			err = fs.ErrExist
		}
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(&arriving{resp.Body, sent}, maxAnswer))
	if err == nil && read != nil {
		err = read(text)
	}
	return resp.Header, err
}

// arriving is a response whose bytes show that the store is at work: it sends spaces while it puts
// parts together.
type arriving struct {
	io.Reader
	sent func(int)
}

func (a *arriving) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	a.sent(0)
	return n, err
}
