package xrootd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-rntuple/go-rntuple/remote"
)

// Requests, by their numbers.
const (
	requestAuth     = 3000
	requestQuery    = 3001
	requestClose    = 3003
	requestProtocol = 3006
	requestLogin    = 3007
	requestOpen     = 3010
	requestRead     = 3013
	requestStat     = 3017
	requestReadv    = 3025
)

// kinds are the names of requests.
var kinds = map[uint16]string{requestAuth: "auth", requestQuery: "query", requestClose: "close",
	requestProtocol: "protocol",
	requestLogin:    "login", requestOpen: "open", requestRead: "read", requestStat: "stat", requestReadv: "readv"}

// The status of an answer.
const (
	statusOK       = 0
	statusOKSoFar  = 4000
	statusAttn     = 4001
	statusAuthMore = 4002
	statusError    = 4003
	statusRedirect = 4004
	statusWait     = 4005
	statusWaitResp = 4006
)

// asyncResponse is the action of an answer with statusAttn that holds the answer to another
// request.
const asyncResponse = 5008

const (
	headerSize  = 8        // of an answer
	elementSize = 16       // of a part of a vectored read, without its bytes
	maxMessage  = 64 << 10 // bytes of an answer that has no bytes of the file
	maxAttns    = 1000     // messages between two answers that nobody has asked for
)

// A request is what is sent, without the stream's number.
type request struct {
	number uint16
	params [16]byte
	data   []byte
}

// append returns b with the request for a stream appended.
func (r *request) append(b []byte, stream uint16) []byte {
	b = binary.BigEndian.AppendUint16(b, stream)
	b = binary.BigEndian.AppendUint16(b, r.number)
	b = append(b, r.params[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(r.data)))
	return append(b, r.data...)
}

// handshake is what a client says first.
var handshake = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(make([]byte, 12), 4), 2012)

// protocolRequest tells the version of the protocol, and whether TLS is possible or wanted.
func protocolRequest(wantTLS bool) *request {
	const version, ableTLS, want, expectLogin = 0x500, 2, 4, 3
	r := &request{number: requestProtocol}
	binary.BigEndian.PutUint32(r.params[:], version)
	if r.params[4] = ableTLS; wantTLS {
		r.params[4] |= want
	}
	r.params[5] = expectLogin
	return r
}

// loginRequest tells who the user is. The token comes from the server that has redirected here.
func loginRequest(pid int, user, token string) *request {
	const fullURL, readRedirect, ipv6, asynchronous, version = 1, 4, 8, 128, 5
	r := &request{number: requestLogin, data: []byte(token)}
	binary.BigEndian.PutUint32(r.params[:], uint32(pid))
	copy(r.params[4:12], user)
	r.params[13] = fullURL | readRedirect | ipv6
	r.params[14] = asynchronous | version
	return r
}

func authRequest(kind string, data []byte) *request {
	r := &request{number: requestAuth, data: data}
	copy(r.params[12:], kind)
	return r
}

// openRequest opens a file for reading, and asks for its size and time.
func openRequest(path string) *request {
	const read, stat = 0x10, 0x400
	r := &request{number: requestOpen, data: []byte(path)}
	binary.BigEndian.PutUint16(r.params[2:], read|stat)
	return r
}

// configRequest asks for the limits of vectored reads.
func configRequest() *request {
	r := &request{number: requestQuery, data: []byte("readv_iov_max readv_ior_max")}
	binary.BigEndian.PutUint16(r.params[:], 7)
	return r
}

type fileHandle [4]byte

func closeRequest(h fileHandle) *request {
	r := &request{number: requestClose}
	copy(r.params[:], h[:])
	return r
}

func statRequest(h fileHandle) *request {
	r := &request{number: requestStat}
	copy(r.params[12:], h[:])
	return r
}

// An element is a part of a file that is read.
type element struct {
	offset int64
	size   int
}

// end returns the offset behind the element.
func (e element) end() int64 { return e.offset + int64(e.size) }

// readRequest reads elements: one by a simple read, several by a vectored one.
func readRequest(h fileHandle, elements []element) *request {
	if len(elements) > 1 {
		r := &request{number: requestReadv, data: make([]byte, 0, elementSize*len(elements))}
		for _, e := range elements {
			r.data = e.append(r.data, h)
		}
		return r
	}
	r := &request{number: requestRead}
	copy(r.params[:], h[:])
	binary.BigEndian.PutUint64(r.params[4:], uint64(elements[0].offset))
	binary.BigEndian.PutUint32(r.params[12:], uint32(elements[0].size))
	return r
}

// append returns b with the element appended as requests and answers of vectored reads have it.
func (e element) append(b []byte, h fileHandle) []byte {
	b = append(b, h[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(e.size))
	return binary.BigEndian.AppendUint64(b, uint64(e.offset))
}

// An answerHeader is what an answer begins with.
type answerHeader struct {
	stream, status uint16
	size           int // of the body
}

// parseHeader returns the header in the first bytes of b.
func parseHeader(b []byte) (answerHeader, error) {
	h := answerHeader{stream: binary.BigEndian.Uint16(b), status: binary.BigEndian.Uint16(b[2:])}
	size := binary.BigEndian.Uint32(b[4:])
	if size > math.MaxInt32 {
		return h, violation("an answer has %d bytes", int32(size))
	}
	h.size = int(size)
	return h, nil
}

// violation returns the error of a server that does not keep to the protocol. It may pass: the
// connection is given up.
func violation(format string, args ...any) error {
	return &remote.Temporary{Err: fmt.Errorf("the server does not keep to the XRootD protocol: "+format, args...)}
}

// An answer is the end of what a server answers to a request, or that it will answer later.
type answer struct {
	status uint16
	body   []byte // unless the status is OK: then the sink has it
	short  error  // of the sink, if the status is OK
}

// err returns the error of an answer that is not OK; that may be a redirection.
func (a answer) err() error {
	switch a.status {
	case statusOK:
		return a.short
	case statusError:
		return parseError(a.body)
	case statusRedirect:
		to, err := parseRedirect(a.body)
		if err != nil {
			return err
		}
		return to
	}
	return violation("an answer with the status %d", a.status)
}

// A serverError is what a server says about a request that failed.
type serverError struct {
	code int
	text string
}

// Error returns the text and the code. The text can be changed later, if it shows what is secret.
func (e *serverError) Error() string {
	text := fmt.Sprintf("the server says %q (%d)", e.text, e.code)
	if kind := e.Unwrap(); kind != nil {
		text = kind.Error() + ": " + text
	}
	return text
}

// Unwrap returns what package fs has for the code, or nil.
func (e *serverError) Unwrap() error {
	switch e.code {
	case errNotFound:
		return fs.ErrNotExist
	case errUnauthorized, errAuthFailed, errTLSRequired:
		return fs.ErrPermission
	}
	return nil
}

// Errors of servers.
const (
	errArgInvalid   = 3000
	errArgTooLong   = 3002
	errFileLocked   = 3003
	errFileNotOpen  = 3004
	errFSError      = 3005
	errInvalid      = 3006
	errIOError      = 3007
	errNoMemory     = 3008
	errUnauthorized = 3010
	errNotFound     = 3011
	errServerError  = 3012
	errUnsupported  = 3013
	errNoServer     = 3014
	errCancelled    = 3017
	errInProgress   = 3020
	errOverloaded   = 3024
	errTLSRequired  = 3028
	errNoReplicas   = 3029
	errAuthFailed   = 3030
	errTimedOut     = 3034
	errExpired      = 3035
)

// queries are those of files in what servers say, which may hold tokens.
var queries = regexp.MustCompile(`\?\S*`)

// parseError returns the error in the body of an answer.
func parseError(body []byte) error {
	if len(body) < 4 {
		return violation("an error of %d bytes, want 4 or more", len(body))
	}
	text := queries.ReplaceAllString(cString(body[4:]), "?…")
	e := &serverError{code: int(binary.BigEndian.Uint32(body)), text: text[:min(len(text), 500)]}
	switch e.code {
	case errFileLocked, errFileNotOpen, errFSError, errIOError, errNoMemory, errServerError, errNoServer, errNoReplicas,
		errCancelled, errInProgress, errOverloaded, errTimedOut, errExpired:
		return &remote.Temporary{Err: e}
	}
	return e
}

// codeOf returns the code of a server's error, or 0.
func codeOf(err error) int {
	if e, ok := errors.AsType[*serverError](err); ok {
		return e.code
	}
	return 0
}

// cString returns the bytes up to the first zero.
func cString(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// parseWait returns how long a server asks to wait.
func parseWait(body []byte) (time.Duration, error) {
	if len(body) < 4 {
		return 0, violation("a time to wait of %d bytes, want 4", len(body))
	}
	s := int32(binary.BigEndian.Uint32(body))
	if s < 0 {
		return 0, violation("a time to wait of %d s", s)
	}
	return time.Duration(s) * time.Second, nil
}

// parseStat returns the size and the version of a file, from "id size flags time".
func parseStat(text string) (remote.Info, error) {
	const directory, other = 2, 4
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return remote.Info{}, violation("the properties of a file are %q, want \"id size flags time\"", text)
	}
	size, err1 := strconv.ParseInt(fields[1], 10, 64)
	flags, err2 := strconv.ParseInt(fields[2], 10, 64)
	seconds, err3 := strconv.ParseInt(fields[3], 10, 64)
	switch {
	case errors.Join(err1, err2, err3) != nil || size < 0:
		return remote.Info{}, violation("the properties of a file are %q, want \"id size flags time\"", text)
	case flags&(directory|other) != 0:
		return remote.Info{}, errors.New("not a regular file")
	case seconds <= 0:
		return remote.Info{Size: size}, nil
	}
	return remote.Info{Size: size, Version: strconv.FormatInt(seconds, 10)}, nil
}

// parseOpen returns the handle of a file that was opened, and its properties; ok tells whether the
// server has sent them.
func parseOpen(body []byte) (h fileHandle, info remote.Info, ok bool, err error) {
	if len(body) < len(h) {
		return h, info, false, violation("an open file has a handle of %d bytes, want 4", len(body))
	}
	copy(h[:], body)
	if len(body) < 12 {
		return h, info, false, nil
	}
	if page := binary.BigEndian.Uint32(body[4:]); page != 0 {
		return h, info, false, errors.New("the server compresses the file, which is not supported")
	}
	text := cString(body[12:])
	if text == "" {
		return h, info, false, nil
	}
	info, err = parseStat(text)
	return h, info, err == nil, err
}

// Limits of vectored reads, if the server does not say.
const (
	defaultElements = 1024
	defaultBytes    = 2<<20 - elementSize
)

// parseConfig returns how many elements a vectored read may have, and how many bytes an element may
// have. The answer has a line for each value, or the name where it is not known.
func parseConfig(body []byte) (elements, size int) {
	lines := strings.Split(cString(body), "\n")
	value := func(i, otherwise, most int) int {
		if i >= len(lines) {
			return otherwise
		}
		v, err := strconv.ParseInt(strings.TrimSpace(lines[i]), 10, 64)
		if err != nil {
			return otherwise
		}
		return int(max(0, min(v, int64(most))))
	}
	elements = value(0, defaultElements, defaultElements)
	size = value(1, defaultBytes, 1<<30)
	if size < 4<<10 { // not worth it
		return 1, defaultBytes
	}
	return max(1, elements), size
}
