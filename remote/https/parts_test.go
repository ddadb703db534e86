package https_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
)

// A span is a part of noise that a request asks for.
type span struct{ begin, end int }

// spans returns what a request asks for, if it has several ranges.
func spans(r *http.Request) (all []span) {
	for text := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), ",") {
		var s span
		if n, _ := fmt.Sscanf(text, "%d-%d", &s.begin, &s.end); n != 2 {
			return nil
		}
		s.end++
		all = append(all, s)
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

func (s span) contentRange() string {
	return fmt.Sprintf("bytes %d-%d/%d", s.begin, s.end-1, len(noise))
}

// part returns a part with its boundary before, as RFC 9110 has it in section 14.6.
func part(s span) string {
	return "\r\n--" + boundary + "\r\nContent-Type: application/octet-stream\r\nContent-Range: " + s.contentRange() +
		"\r\n\r\n" + string(noise[s.begin:s.end])
}

const last = "\r\n--" + boundary + "--\r\n"

func each(all []span, part func(span) string) (body string) {
	for _, s := range all {
		body += part(s)
	}
	return body
}

// TestParts reads what servers send for several ranges. Where they send it in a way of their own,
// ranges are asked for one by one from then on.
func TestParts(t *testing.T) {
	remotetest.CheckGoroutines(t)
	for _, c := range []struct {
		name string
		once bool // it is taken, and nothing is asked for again
		want error
		kind string // Content-Type, after multipart/byteranges; ""; boundary=limit
		body func(all []span) string
	}{
		{"as usual", true, nil, "", func(all []span) string { return each(all, part) + last }},
		{"quoted boundary", true, nil, `; charset=x; boundary="limit"`,
			func(all []span) string { return each(all, part) + last }},
		{"no empty line before", true, nil, "", func(all []span) string { return each(all, part)[2:] + last }},
		{"lines without CR", true, nil, "", func(all []span) string {
			return each(all, func(s span) string {
				return "\n--" + boundary + "\ncontent-range:" + s.contentRange() + "\n\n" + string(noise[s.begin:s.end])
			}) + "\n--" + boundary + "--"
		}},
		{"without an end", true, nil, "", func(all []span) string { return each(all, part) }},
		{"two joined", false, nil, "", func(all []span) string { // which is more than was asked for
			return part(span{all[0].begin, all[1].end}) + each(all[2:], part) + last
		}},
		{"split", true, nil, "", func(all []span) string {
			return each(all, func(s span) string {
				return part(span{s.begin,
					s.begin + 10}) + part(span{s.begin + 10, s.end})
			}) + last
		}},
		{"more than was asked for", true, nil, "", func(all []span) string {
			return each(all, func(s span) string { return part(span{s.begin - 10, s.end + 10}) }) + last
		}},
		{"backwards", false, nil, "", func(all []span) string { slices.Reverse(all); return each(all, part) + last }},
		{"each one twice", true, nil, "", func(all []span) string {
			return each(all, func(s span) string { return part(s) + part(s) }) + last
		}},
		{"the first one only", false, nil, "", func(all []span) string { return part(all[0]) + last }},
		{"one missing", false, nil, "", func(all []span) string { return each(slices.Delete(all, 3, 4), part) + last }},
		{"none", false, nil, "", func(all []span) string { return last }},
		{"with a preamble", false, nil, "", func(all []span) string { return "Here it comes.\r\n" + each(all, part) + last }},
		{"empty lines", false, nil, "", func(all []span) string { return strings.Repeat("\r\n", 1000) }},
		{"empty lines without end", false, nil, "", func(all []span) string { return strings.Repeat("\r\n", 1<<20) }},
		{"a long line", false, nil, "", func(all []span) string { return strings.Repeat("a", 1<<20) }},
		{"a long header", false, nil, "", func(all []span) string {
			return "--" + boundary + "\r\n" + strings.Repeat("A: b\r\n", 1<<18)
		}},
		{"a part without end", false, nil, "", func(all []span) string {
			return each(all, func(s span) string { return part(span{0, len(noise)}) })
		}},
		{"parts without end", false, nil, "", func(all []span) string {
			return strings.Repeat(part(span{0, 1}), 1<<14)
		}},
		{"a header that is none", false, nil, "", func(all []span) string { return "--" + boundary + "\r\nabc\r\n\r\n" }},
		{"no Content-Range", false, nil, "", func(all []span) string {
			return each(all, func(s span) string { return "\r\n--" + boundary + "\r\n\r\n" + string(noise[s.begin:s.end]) }) +
				last
		}},
		{"another size", false, remote.ErrChanged, "", func(all []span) string {
			return strings.ReplaceAll(each(all, part), fmt.Sprint("/", len(noise)), "/1048575") + last
		}},
		{"no boundary", false, nil, "; charset=x", func(all []span) string { return each(all, part) + last }},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := int64(0)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n++
				all := spans(r)
				if all == nil {
					serveBytes(w, r, noise)
					return
				}
				kind := c.kind
				if kind == "" {
					kind = "; boundary=" + boundary
				}
				w.Header().Set("ETag", etag)
				w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
				w.Header().Set("Content-Type", "multipart/byteranges"+kind)
				w.WriteHeader(http.StatusPartialContent)
				io.WriteString(w, c.body(all))
			}))
			defer server.Close()
			err := readNoise(server.URL, remote.Options{Attempts: 2, Backoff: time.Millisecond})
			if !errors.Is(err, c.want) || c.want == nil && c.once != (n == 4) {
				t.Errorf("%d requests, %v; want 4: %t; %v", n, err, c.once, c.want)
			}
		})
	}
}

// TestOnePart reads from servers that send one part where several are asked for.
func TestOnePart(t *testing.T) {
	for name, choose := range map[string]func(all []span) span{
		"the first one": func(all []span) span { return all[0] },
		"the last one":  func(all []span) span { return all[len(all)-1] },
		"half a range":  func(all []span) span { return span{all[0].begin, all[0].begin + 10} },
		"everything":    func(all []span) span { return span{0, len(noise)} }, // of which so much is read as was asked for
	} {
		t.Run(name, func(t *testing.T) {
			n, several := int64(0), 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n++
				if all := spans(r); all != nil {
					several++
					s := choose(all)
					r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", s.begin, s.end-1))
				}
				serveBytes(w, r, noise)
			}))
			defer server.Close()
			if err := readNoise(server.URL, remote.Options{Attempts: 1}); err != nil || several != 1 || n < 5 {
				t.Errorf("%v; %d requests, %d of several ranges, want one", err, n, several)
			}
		})
	}
}
