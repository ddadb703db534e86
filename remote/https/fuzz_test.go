package https

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/remote"
)

// FuzzResponse reads responses of any form for three ranges: it ends, and fills no range that the
// response does not have.
func FuzzResponse(f *testing.F) {
	const size = 1000
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i)
	}
	part := "\r\n--b\r\nContent-Range: bytes 10-19/1000\r\n\r\n" + string(data[10:20])
	for _, seed := range [][3]string{
		{"", "bytes 10-999/1000", string(data[10:])},
		{"multipart/byteranges; boundary=b", "",
			part + "\r\n--b\r\nContent-Range: bytes 500-600/1000\r\n\r\n" + string(data[500:601]) + "\r\n--b--\r\n"},
		{"multipart/byteranges; boundary=b", "", part + part},
		{`multipart/byteranges; boundary="`, "bytes 0-0/1000", "a"},
		{"text/plain", "bytes 10-9/1000", ""},
		{"", "bytes 0-4611686018427387902/4611686018427387903", "abc"},
	} {
		f.Add(seed[0], seed[1], []byte(seed[2]))
	}
	f.Fuzz(func(t *testing.T, kind, contentRange string, body []byte) {
		ranges := []remote.Range{{Offset: 10, Data: make([]byte, 10)}, {Offset: 500, Data: make([]byte, 50)},
			{Offset: 550, Data: make([]byte, 50)}}
		q := ask(ranges, 10)
		resp := &http.Response{Header: http.Header{"Content-Type": {kind}, "Content-Range": {contentRange}},
			ContentLength: -1}
		in := &counted{io.NopCloser(bytes.NewReader(body)), q.limit(), func(int) {}}
		s := &scatter{ranges: ranges, size: size, in: in}
		err := s.response(resp)
		for i, r := range ranges[:s.filled] {
			for _, c := range r.Data {
				if !bytes.Contains(body, []byte{c}) {
					t.Fatalf("range %d has the byte %#x, the response has not; %v", i, c, err)
				}
			}
		}
		if in.left > q.limit() || in.left < 0 {
			t.Fatalf("%d bytes are left of %d", in.left, q.limit())
		}
	})
}

func FuzzContentRange(f *testing.F) {
	for _, seed := range []string{"bytes 0-0/1", "bytes 0-9/*", "bytes 9-0/10", "bytes */10",
		"bytes 0-9223372036854775807/9223372036854775807"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, end, size, err := contentRange(http.Header{"Content-Range": {text}})
		if err == nil && (first < 0 || first >= end || end > size || !strings.HasPrefix(text, "bytes ")) {
			t.Errorf("%q is from %d to %d of %d", text, first, end, size)
		}
	})
}
