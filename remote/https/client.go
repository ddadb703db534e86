package https

import (
	"io"
	"net/http"
	"sync"
)

// A Client makes requests for protocols on top of HTTP. It shares the connections of files that are
// read, and does not follow redirects.
type Client struct {
	client *http.Client
	closed sync.Once
}

// NewClient returns a Client, which must be closed.
func NewClient() (*Client, error) { return newClient(stay) }

// stay makes a client not follow redirects.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// newClient returns a Client that follows redirects for which redirect returns nil.
func newClient(redirect func(*http.Request, []*http.Request) error) (*Client, error) {
	t, err := transport()
	if err != nil {
		return nil, err
	}
	users.add(1)
	return &Client{client: &http.Client{Transport: t, CheckRedirect: redirect}}, nil
}

// Close closes the connections if nobody uses them any more.
func (c *Client) Close() { c.closed.Do(func() { users.add(-1) }) }

// Do makes a request once. Its error does not show the URL, and is a *remote.Temporary if it may
// pass.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	resp, err := c.client.Do(r)
	if err != nil {
		return nil, passing(err)
	}
	resp.Body = body{resp.Body}
	return resp, nil
}

// A body is that of a response, whose errors are like those of Do.
type body struct{ io.ReadCloser }

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = passing(err)
	}
	return n, err
}

// SetBody makes n bytes of from, beginning at offset at, the body of a request. It calls sent with
// their number each time that some are sent. A large body waits until the server wants it.
func SetBody(r *http.Request, from io.ReaderAt, at, n int64, sent func(int)) {
	r.ContentLength = n
	if r.Body = http.NoBody; n == 0 {
		return
	}
	r.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(&sending{io.NewSectionReader(from, at, n), sent}), nil
	}
	r.Body, _ = r.GetBody()
	if n > 1<<20 {
		r.Header.Set("Expect", "100-continue")
	}
}

// sending reports the bytes that are sent.
type sending struct {
	io.Reader
	sent func(int)
}

func (s *sending) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if n > 0 {
		s.sent(n)
	}
	return n, err
}
