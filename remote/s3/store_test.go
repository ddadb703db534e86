package s3

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// A store is an S3 server with path style for tests. It checks signatures by making them again.
type store struct {
	mu      sync.Mutex
	objects map[string][]byte                                        // by "bucket/key"
	uploads map[string]map[int][]byte                                // parts by the ID of their upload
	region  string                                                   // for which requests must be signed
	secrets map[string][2]string                                     // secret and session token by access key
	public  bool                                                     // requests need not be signed
	fault   func(w http.ResponseWriter, r *http.Request, n int) bool // reports whether it has answered the n-th request
	// reports whether the n-th request is carried out, but not answered
	lose func(r *http.Request, n int) bool
	log  []string // of requests
}

const accessKey, secretKey, sessionToken = "AKIDEXAMPLE", "wJalrXUtnFEMI-secret", "session-token"

// newStore starts a store and makes the environment lead to it.
func newStore(t *testing.T) *store {
	s := &store{
		objects: map[string][]byte{}, uploads: map[string]map[int][]byte{}, region: "us-east-1",
		secrets: map[string][2]string{accessKey: {secretKey, ""}},
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	environment(t, map[string]string{"AWS_ENDPOINT_URL_S3": server.URL, "AWS_ACCESS_KEY_ID": accessKey,
		"AWS_SECRET_ACCESS_KEY": secretKey})
	regions.Clear()
	return s
}

// environment makes the given variables the only ones that concern S3.
func environment(t *testing.T, env map[string]string) {
	none := t.TempDir()
	all := map[string]string{"AWS_CONFIG_FILE": none + "/config", "AWS_SHARED_CREDENTIALS_FILE": none + "/credentials",
		"AWS_EC2_METADATA_DISABLED": "true"}
	for _, name := range []string{"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_NO_SIGN_REQUEST",
		"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"S3_ACCESS_KEY", "S3_SECRET_KEY", "S3_REGION"} {
		all[name] = ""
	}
	for name, value := range env {
		all[name] = value
	}
	for name, value := range all {
		t.Setenv(name, value)
	}
}

// reset empties the store.
func (s *store) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.objects)
	clear(s.uploads)
	s.log, s.fault, s.lose = nil, nil, nil
}

// put stores an object.
func (s *store) put(name string, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name] = b
}

// remove removes an object.
func (s *store) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, name)
}

// get returns an object.
func (s *store) get(name string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.objects[name]
	return b, ok
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.log = append(s.log, r.Method+" "+r.URL.RequestURI())
	n := len(s.log)
	fault, lose := s.fault, s.lose
	s.mu.Unlock()
	if fault != nil && fault(w, r, n) {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if lose != nil && lose(r, n) {
		s.answer(httptest.NewRecorder(), r, body)
		panic(http.ErrAbortHandler)
	}
	s.answer(w, r, body)
}

// answer carries a request out.
func (s *store) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status, code, message := s.check(r, body); status != 0 {
		if code == "AuthorizationHeaderMalformed" {
			message += "</Message><Region>" + s.region + "</Region><Message>"
		}
		refuse(w, r, status, code, message)
		return
	}
	name, query := strings.TrimPrefix(r.URL.Path, "/"), r.URL.Query()
	id := query.Get("uploadId")
	old, exists := s.objects[name]
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	refused := exists && r.Header.Get("If-None-Match") == "*"
	switch {
	case id != "" && s.uploads[id] == nil:
		refuse(w, r, http.StatusNotFound, "NoSuchUpload", "The specified upload does not exist.")
	case refused:
		refuse(w, r, http.StatusPreconditionFailed, "PreconditionFailed",
			"At least one of the pre-conditions you specified did not hold")
	case reads && !exists:
		refuse(w, r, http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
	case reads:
		if strings.Contains(r.Header.Get("Range"), ",") {
			r.Header.Del("Range")
		}
		w.Header().Set("ETag", etag(old))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(old))
	case r.Method == http.MethodPost && query.Has("uploads"):
		id := fmt.Sprintf("id %d/+", len(s.uploads))
		s.uploads[id] = map[int][]byte{}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
	case r.Method == http.MethodPut && id != "":
		n, _ := strconv.Atoi(query.Get("partNumber"))
		s.uploads[id][n] = body
		w.Header().Set("ETag", etag(body))
	case r.Method == http.MethodPut:
		s.objects[name] = body
		w.Header().Set("ETag", etag(body))
	case r.Method == http.MethodPost:
		s.complete(w, name, id, body)
	case r.Method == http.MethodDelete:
		delete(s.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	}
}

// complete makes an object of the parts that the body lists.
func (s *store) complete(w http.ResponseWriter, name, id string, body []byte) {
	var list struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	fmt.Fprint(w, xml.Header, "   ") // it is not known yet whether it succeeds
	err := xml.Unmarshal(body, &list)
	var all []byte
	for i, p := range list.Part {
		part := s.uploads[id][p.PartNumber]
		if p.PartNumber != i+1 || p.ETag != etag(part) || err != nil {
			fmt.Fprint(w, "<Error><Code>InvalidPart</Code><Message>One or more of the specified parts could not be found.</Message></Error>")
			return
		}
		all = append(all, part...)
	}
	delete(s.uploads, id)
	s.objects[name] = all
	fmt.Fprint(w, "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
}

func etag(b []byte) string { return fmt.Sprintf(`"%x"`, md5.Sum(b)) }

func refuse(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message><SignatureProvided>%s</SignatureProvided></Error>", code,
		message, r.Header.Get("Authorization"))
}

// check checks the signature of a request.
func (s *store) check(r *http.Request, body []byte) (status int, code, message string) {
	given := r.Header.Get("Authorization")
	if given == "" && s.public {
		return 0, "", ""
	}
	fields := map[string]string{}
	for field := range strings.SplitSeq(strings.TrimPrefix(given, "AWS4-HMAC-SHA256 "), ", ") {
		name, value, _ := strings.Cut(field, "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	sum := sha256.Sum256(body)
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	hash := r.Header.Get("X-Amz-Content-Sha256")
	switch {
	case given == "" || len(scope) != 5:
		return http.StatusForbidden, "AccessDenied", "Access Denied"
	case scope[2] != s.region:
		return http.StatusBadRequest, "AuthorizationHeaderMalformed", "the region is wrong"
	case s.secrets[scope[0]][0] == "":
		return http.StatusForbidden, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."
	case err != nil || time.Since(at).Abs() > 15*time.Minute:
		return http.StatusForbidden, "RequestTimeTooSkewed", "The difference is too large."
	case hash != hex.EncodeToString(sum[:]):
		return http.StatusBadRequest, "XAmzContentSHA256Mismatch",
			"The provided 'x-amz-content-sha256' header does not match what was computed."
	}
	again := &http.Request{Method: r.Method, Host: r.Host,
		URL:    &url.URL{Host: r.Host, Path: r.URL.Path, RawPath: canonical(r.URL.Path), RawQuery: r.URL.RawQuery},
		Header: http.Header{}}
	for _, name := range strings.Split(fields["SignedHeaders"], ";") {
		again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
	}
	delete(again.Header, "Host")
	c := aws.Credentials{AccessKeyID: scope[0], SecretAccessKey: s.secrets[scope[0]][0],
		SessionToken: s.secrets[scope[0]][1]}
	err = v4.NewSigner().SignHTTP(r.Context(), c, again, hash, scope[3], scope[2], at,
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if want := again.Header.Get("Authorization"); err != nil || given != want {
		return http.StatusForbidden, "SignatureDoesNotMatch", "The request signature we calculated does not match " + given
	}
	return 0, "", ""
}

// canonical returns a path as it is signed.
//
// Source: Amazon S3 API Reference, "Signature Calculations for the Authorization Header",
// UriEncode.
func canonical(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		p = strings.ReplaceAll(url.QueryEscape(p), "+", "%20")
		parts[i] = strings.ReplaceAll(p, "%7E", "~")
	}
	return strings.Join(parts, "/")
}

// requests returns the methods of the requests so far, and forgets them.
func (s *store) requests() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.log {
		method, _, _ := strings.Cut(line, " ")
		all = append(all, method)
	}
	s.log = nil
	return slices.Clip(all)
}
