package https

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/go-rntuple/go-rntuple/remote"
)

// A scatter puts the bytes of a response where they are wanted.
type scatter struct {
	ranges []remote.Range
	filled int   // the first ranges, which are complete
	part   int   // bytes of the next range
	size   int64 // of the file
	in     io.Reader
}

// response reads a response with one or several parts of the file (RFC 9110, section 14.6).
func (s *scatter) response(resp *http.Response) error {
	kind, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/byteranges" {
		if _, _, _, err := partOf(resp); err != nil {
			return err
		}
		return s.one(s.in, resp.Header)
	}
	boundary := params["boundary"]
	if boundary == "" {
		return malformed("a response of several parts without a boundary")
	}
	// The boundary may occur in the bytes of the file: a part is as long as its Content-Range says.
	in := bufio.NewReaderSize(s.in, 64<<10)
	for lines := 0; ; {
		line, err := readLine(in)
		if err != nil {
			return err
		}
		switch {
		case line == "" && lines < 4:
			lines++
		case line == "--"+boundary+"--":
			return nil
		case line == "--"+boundary:
			header, err := textproto.NewReader(in).ReadMIMEHeader()
			if err != nil {
				return badHeader(err)
			}
			if err := s.one(in, http.Header(header)); err != nil {
				return err
			}
			if lines = 0; s.filled == len(s.ranges) {
				return nil
			}
		default:
			return malformed(fmt.Sprintf("a response of several parts has %.40q where a part should begin", line))
		}
	}
}

func readLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", malformed(fmt.Sprintf("a response of several parts has a line of more than %d bytes", len(line)))
	}
	return strings.TrimRight(string(line), "\r\n"), noEOF(err)
}

// badHeader returns the error of the header of a part.
func badHeader(err error) error {
	if errors.As(err, new(textproto.ProtocolError)) {
		return malformed(fmt.Sprintf("a part of a response has a header that is none: %.80s", err))
	}
	return noEOF(err)
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// one reads a part of the file with the given header.
func (s *scatter) one(in io.Reader, header http.Header) error {
	at, end, size, err := contentRange(header)
	switch {
	case err != nil:
		return err
	case size != s.size:
		return fmt.Errorf("%w: it has %d bytes now, %d before", remote.ErrChanged, size, s.size)
	}
	for s.filled < len(s.ranges) {
		r := s.ranges[s.filled]
		from := r.Offset + int64(s.part)
		if from < at {
			return malformed(fmt.Sprintf("the server sends bytes from %d on where those from %d on were asked for", at, from))
		}
		if from >= end {
			break
		}
		if err := discard(in, from-at); err != nil {
			return err
		}
		n := min(r.End(), end) - from
		got, err := io.ReadFull(in, r.Data[s.part:][:n])
		s.part += got
		if err != nil {
			return noEOF(err)
		}
		if at = from + n; at == r.End() {
			s.filled, s.part = s.filled+1, 0
		}
		if at == end {
			return nil
		}
	}
	if s.filled < len(s.ranges) || end-at <= 1<<10 {
		return discard(in, end-at)
	}
	return nil
}

// discard skips n bytes.
func discard(in io.Reader, n int64) error {
	_, err := io.CopyN(io.Discard, in, n)
	return noEOF(err)
}

// contentRange returns the offsets of the first byte of a part of a file and of the one behind it,
// and the size of the file.
func contentRange(h http.Header) (first, end, size int64, err error) {
	text := h.Get("Content-Range")
	fail := func() (int64, int64, int64, error) {
		return 0, 0, 0, malformed(fmt.Sprintf("the server sends a part of the file as %.80q, want \"bytes FIRST-LAST/SIZE\"",
			text))
	}
	span, ok := strings.CutPrefix(text, "bytes ")
	span, total, ok2 := strings.Cut(span, "/")
	from, to, ok3 := strings.Cut(span, "-")
	if !ok || !ok2 || !ok3 {
		return fail()
	}
	for _, n := range []struct {
		text string
		to   *int64
	}{{from, &first}, {to, &end}, {total, &size}} {
		v, err := strconv.ParseUint(strings.TrimSpace(n.text), 10, 62)
		if err != nil {
			return fail()
		}
		*n.to = int64(v)
	}
	if end++; first >= end || end > size {
		return fail()
	}
	return first, end, size, nil
}

// partOf is contentRange for a response with one part, whose body must be as long as that.
func partOf(resp *http.Response) (first, end, size int64, err error) {
	first, end, size, err = contentRange(resp.Header)
	if n := end - first; err == nil && resp.ContentLength >= 0 && resp.ContentLength != n {
		err = malformed(fmt.Sprintf("the server sends %d bytes as a part of %d bytes", resp.ContentLength, n))
	}
	return first, end, size, err
}
