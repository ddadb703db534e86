package s3

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// strange is a key with all that could be escaped in some other way.
const strange = "a b/ü/x+y=(1)&$@~*'%20;!/é"

func TestValues(t *testing.T) {
	remotetest.CheckGoroutines(t)
	s := newStore(t)
	files, err := filepath.Glob(filepath.Join(remotetest.Good(t), "*.root"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s.put("bucket.with.dots/"+strange+"/"+filepath.Base(path), b)
	}
	remotetest.CheckValues(t, "s3://bucket.with.dots/"+strange, &rntuple.ReadOptions{Remote: remote.Options{Tail: 2048}})
	for _, line := range s.log {
		if !strings.HasPrefix(line, "GET ") {
			t.Fatal(line)
		}
	}
}

// TestURLs compares with the addresses that Amazon documents.
func TestURLs(t *testing.T) {
	for _, test := range []struct{ env, url, want string }{
		{"AWS_REGION=eu-west-3", "s3://bucket/a/b.root", "https://bucket.s3.eu-west-3.amazonaws.com/a/b.root"},
		{"", "s3://bucket/a b.root", "https://bucket.s3.us-east-1.amazonaws.com/a%20b.root"},
		{"", "s3://bucket/a%20b.root", "https://bucket.s3.us-east-1.amazonaws.com/a%2520b.root"},
		{"", "s3://bucket//a//ü+", "https://bucket.s3.us-east-1.amazonaws.com//a//%C3%BC%2B"},
		{"", "s3://bucket/k?versionId=a%2Bb", "https://bucket.s3.us-east-1.amazonaws.com/k?versionId=a%2Bb"},
		{"", "s3://dotted.bucket/k", "https://s3.us-east-1.amazonaws.com/dotted.bucket/k"},
		{"", "s3://Upper_case/k", "https://s3.us-east-1.amazonaws.com/Upper_case/k"},
		{"AWS_REGION=cn-north-1", "s3://bucket/k", "https://bucket.s3.cn-north-1.amazonaws.com.cn/k"},
		{"AWS_ENDPOINT_URL=http://host:9000/", "s3://bucket/k", "http://host:9000/bucket/k"},
		{"AWS_ENDPOINT_URL=https://host:443/prefix", "s3://bucket/k", "https://host/prefix/bucket/k"},
	} {
		env := map[string]string{}
		if name, value, ok := strings.Cut(test.env, "="); ok {
			env[name] = value
		}
		environment(t, env)
		regions.Clear()
		u, err := url.Parse(test.url)
		if err != nil {
			t.Fatal(err)
		}
		o, err := newObject(u, &remote.Options{})
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
		} else if got := o.url().String(); got != test.want {
			t.Errorf("%s is at %s, want %s", test.url, got, test.want)
		}
	}
}

func TestBadURLs(t *testing.T) {
	for _, test := range []struct{ env, url, want string }{
		{"", "s3:///key", "names no bucket"},
		{"", "s3://bucket", "names no object"},
		{"", "s3://bucket/", "names no object"},
		{"", "s3://bucket:80/key", "names no bucket"},
		{"", "s3://AKID:secret@bucket/key", "credentials are not taken from a URL"},
		{"", "s3://bucket/a?b", `"?" is not part of a key`},
		{"", "s3://bucket/a?versionId=1&secret", `"?" is not part of a key`},
		{"", "s3://bucket/a#secret", `"#" is not part of a key`},
		{"AWS_REGION=x.evil.example/", "s3://bucket/key", "not the name of a region"},
		{"AWS_ENDPOINT_URL=host:9000", "s3://bucket/key", "the endpoint is not the URL of a store"},
		{"AWS_ENDPOINT_URL=http://user:secret@host", "s3://bucket/key", "the endpoint is not the URL of a store"},
		{"AWS_PROFILE=none", "s3://bucket/key", "none"},
	} {
		env := map[string]string{}
		if name, value, ok := strings.Cut(test.env, "="); ok {
			env[name] = value
		}
		environment(t, env)
		_, err := remote.Open(t.Context(), test.url, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s %s: %v, want %q", test.env, test.url, err, test.want)
		}
	}
}

// read opens an object and reads it.
func read(t *testing.T, name string, o remote.Options) (string, error) {
	o.Backoff = 1
	f, err := remote.Open(t.Context(), name, &o)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := make([]byte, f.Len())
	if len(b) > 0 {
		err = f.ReadRanges(t.Context(), []remote.Range{{Data: b}})
	}
	return string(b), err
}

func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"AWS_SHARED_CREDENTIALS_FILE": "[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = wrong-secret\n" +
			"[right]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = wJalrXUtnFEMI-secret\n" +
			"[session]\naws_access_key_id = ASIA\naws_secret_access_key = other-secret\naws_session_token = session-token\n",
		"AWS_CONFIG_FILE": "[profile here]\ncredential_process = printf '{\"Version\":1,\"AccessKeyId\":\"AKIDEXAMPLE\",\"SecretAccessKey\":\"wJalrXUtnFEMI-secret\"}'\nregion = eu-central-1\n" +
			"[profile broken]\ncredential_process = false\n",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files[name] = path
	}
	for _, test := range []struct {
		name      string
		env       map[string]string
		files     bool
		anonymous bool
		region    string
		public    bool
		want      string // in the error; empty: none
	}{
		{name: "environment"},
		{name: "session", env: map[string]string{"AWS_ACCESS_KEY_ID": "ASIA", "AWS_SECRET_ACCESS_KEY": "other-secret",
			"AWS_SESSION_TOKEN": sessionToken}},
		{name: "no token", env: map[string]string{"AWS_ACCESS_KEY_ID": "ASIA", "AWS_SECRET_ACCESS_KEY": "other-secret"},
			want: "SignatureDoesNotMatch"},
		{name: "wrong secret", env: map[string]string{"AWS_SECRET_ACCESS_KEY": "wrong-secret"},
			want: "SignatureDoesNotMatch"},
		{name: "wrong key", env: map[string]string{"AWS_ACCESS_KEY_ID": "AKIDNONE"}, want: "InvalidAccessKeyId"},
		{name: "anonymous, not public", anonymous: true, want: "AccessDenied"},
		{name: "anonymous", anonymous: true, public: true},
		{name: "not signed", env: map[string]string{"AWS_NO_SIGN_REQUEST": "YES"}, public: true},
		{name: "not signed, not public", env: map[string]string{"AWS_NO_SIGN_REQUEST": "true"}, want: "AccessDenied"},
		{name: "none", env: map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, public: true},
		{name: "none, not public", env: map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""},
			want: "AccessDenied"},
		{name: "wrong in file", files: true, want: "SignatureDoesNotMatch"},
		{name: "profile", files: true, env: map[string]string{"AWS_PROFILE": "right"}},
		{name: "profile with session", files: true, env: map[string]string{"AWS_PROFILE": "session"}},
		{name: "profile with program and region", files: true, env: map[string]string{"AWS_PROFILE": "here"},
			region: "eu-central-1"},
		{name: "profile with broken program", files: true, env: map[string]string{"AWS_PROFILE": "broken"},
			want: "credential"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStore(t)
			s.put("bucket/key", []byte("0123456789"))
			s.secrets["ASIA"] = [2]string{"other-secret", sessionToken}
			s.public, s.region = test.public, "us-east-1"
			if test.region != "" {
				s.region = test.region
			}
			if test.files {
				t.Setenv("AWS_ACCESS_KEY_ID", "")
				t.Setenv("AWS_SECRET_ACCESS_KEY", "")
				for name, path := range files {
					t.Setenv(name, path)
				}
			}
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			got, err := read(t, "s3://bucket/key", remote.Options{Anonymous: test.anonymous})
			if test.want == "" {
				if err != nil || got != "0123456789" {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v, want %s", err, test.want)
			}
			for _, secret := range []string{"secret-", "-secret", sessionToken} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error shows %s: %v", secret, err)
				}
			}
			if signature.MatchString(err.Error()) {
				t.Errorf("the error shows the signature: %v", err)
			}
			if n := len(s.requests()); n > 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestRegion has the store tell in which region a bucket is, in the ways in which S3 does it.
func TestRegion(t *testing.T) {
	for _, way := range []string{"header, 301", "header, 400", "body"} {
		t.Run(way, func(t *testing.T) {
			s := newStore(t)
			s.put("bucket/key", []byte("0123456789"))
			s.region = "eu-central-1"
			header, status, _ := strings.Cut(way, ", ")
			s.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if header != "header" || strings.Contains(r.Header.Get("Authorization"), "/eu-central-1/") {
					return false
				}
				w.Header().Set("X-Amz-Bucket-Region", "eu-central-1")
				w.WriteHeader(map[string]int{"301": 301, "400": 400}[status])
				return true
			}
			for i, want := range []int{3, 2} { // the second time it is known
				got, err := read(t, "s3://bucket/key", remote.Options{Tail: 1})
				if n := len(s.requests()); err != nil || got != "0123456789" || n != want {
					t.Errorf("%d: %q, %v, %d requests, want %d", i, got, err, n, want)
				}
			}
			regions.Clear()
			if err := remote.Upload(t.Context(), "s3://bucket/other", strings.NewReader("abc"), 3,
				&remote.UploadOptions{Replace: true}); err != nil {
				t.Error(err)
			}
			if b, _ := s.get("bucket/other"); string(b) != "abc" {
				t.Errorf("%q", b)
			}
		})
	}
	t.Run("no region", func(t *testing.T) {
		s := newStore(t)
		s.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
			w.Header().Set("X-Amz-Bucket-Region", "evil.example/")
			w.Header().Set("Location", "http://evil.example/")
			w.WriteHeader(307)
			return true
		}
		if _, err := read(t, "s3://bucket/key", remote.Options{}); err == nil ||
			!strings.Contains(err.Error(), "the store says 307") {
			t.Error(err)
		}
		if n := len(s.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestErrors has the store answer with errors that the S3 API Reference lists.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		status   int
		code     string
		want     error
		attempts int
	}{
		{404, "NoSuchKey", fs.ErrNotExist, 1},
		{404, "NoSuchBucket", fs.ErrNotExist, 1},
		{404, "", fs.ErrNotExist, 1},
		{403, "AccessDenied", fs.ErrPermission, 1},
		{403, "", fs.ErrPermission, 1},
		{400, "ExpiredToken", fs.ErrPermission, 1},
		{400, "InvalidToken", fs.ErrPermission, 1},
		{403, "InvalidObjectState", fs.ErrPermission, 1},
		{403, "RequestTimeTooSkewed", fs.ErrPermission, 1},
		{400, "RequestTimeout", nil, 3},
		{409, "OperationAborted", nil, 3},
		{500, "InternalError", nil, 3},
		{503, "SlowDown", nil, 3},
		{503, "", nil, 3},
		{501, "NotImplemented", nil, 1},
		{400, "InvalidArgument", nil, 1},
	} {
		s := newStore(t)
		s.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
			if test.code == "" {
				w.WriteHeader(test.status)
			} else {
				refuse(w, r, test.status, test.code,
					"the  message\n of "+r.Header.Get("Authorization")+" "+strings.Repeat("x", 1000))
			}
			return true
		}
		_, err := read(t, "s3://bucket/key", remote.Options{Attempts: 3})
		var e *remote.Error
		switch {
		case !errors.As(err, &e), test.want != nil && !errors.Is(err, test.want), test.want == nil &&
			(errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)):
			t.Errorf("%d %s: %v", test.status, test.code, err)
		case !strings.Contains(err.Error(), test.code) || test.code != "" &&
			!strings.Contains(err.Error(), ": the message of "):
			t.Errorf("%d %s: %v", test.status, test.code, err)
		case len(err.Error()) > 600 || signature.MatchString(err.Error()):
			t.Errorf("%d %s shows the signature, or is long: %v", test.status, test.code, err)
		}
		if n := len(s.requests()); n != test.attempts {
			t.Errorf("%d %s: %d requests, want %d", test.status, test.code, n, test.attempts)
		}
	}
}

// TestEmpty reads an object without a byte, for which S3 has no range.
func TestEmpty(t *testing.T) {
	s := newStore(t)
	s.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		io.WriteString(w, "<Error><Code>InvalidRange</Code><Message>x</Message><ActualObjectSize>0</ActualObjectSize></Error>")
		return true
	}
	if got, err := read(t, "s3://bucket/key", remote.Options{}); err != nil || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestChanged replaces an object that is being read.
func TestChanged(t *testing.T) {
	s := newStore(t)
	s.put("bucket/key", []byte("0123456789"))
	f, err := remote.Open(t.Context(), "s3://bucket/key", &remote.Options{Tail: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.put("bucket/key", []byte("abcdefghij"))
	b := make([]byte, 4)
	if err := f.ReadRanges(t.Context(), []remote.Range{{Offset: 2, Data: b}}); !errors.Is(err, remote.ErrChanged) {
		t.Errorf("%q, %v", b, err)
	}
}

// TestOneRange makes sure that requests ask for one range, as S3 can read only one.
func TestOneRange(t *testing.T) {
	s := newStore(t)
	s.put("bucket/key", slices.Repeat([]byte("0123456789"), 10000))
	f, err := remote.Open(t.Context(), "s3://bucket/key", &remote.Options{Tail: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, b := make([]byte, 4), make([]byte, 4)
	s.requests()
	if err := f.ReadRanges(t.Context(), []remote.Range{{Offset: 2, Data: a}, {Offset: 90003, Data: b}}); err != nil ||
		string(a) != "2345" || string(b) != "3456" {
		t.Errorf("%q, %q, %v", a, b, err)
	}
	if f.Costs().Ranges != 1 {
		t.Errorf("%+v", f.Costs())
	}
}

var signature = regexp.MustCompile("[0-9a-f]{64}")

// TestMetadata takes credentials from the service of Amazon's machines, and does without where it
// is silent.
//
// Source: Amazon EC2 User Guide, "Retrieve security credentials from instance metadata".
func TestMetadata(t *testing.T) {
	limit := metadataTime
	defer func() { metadataTime = limit }()
	for _, silent := range []bool{false, true} {
		if metadataTime = time.Minute; silent {
			metadataTime = limit
		}
		s := newStore(t)
		s.put("bucket/key", []byte("0123456789"))
		s.public = silent
		speaks, given := make(chan struct{}), make(chan struct{}, 100)
		if !silent {
			close(speaks)
		}
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-speaks:
			case <-r.Context().Done():
			}
			switch {
			case r.Method == http.MethodPut:
				w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
				io.WriteString(w, "token")
			case strings.HasSuffix(r.URL.Path, "/role"):
				fmt.Fprintf(w, `{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":%q,"SecretAccessKey":%q,"Token":"","Expiration":"2999-01-01T00:00:00Z"}`, accessKey, secretKey)
				given <- struct{}{}
			case strings.HasSuffix(r.URL.Path, "/"):
				io.WriteString(w, "role")
			default:
				http.NotFound(w, r)
			}
		}))
		for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
			"AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "",
			"AWS_EC2_METADATA_SERVICE_ENDPOINT": service.URL} {
			t.Setenv(name, value)
		}
		start := time.Now()
		for range 3 {
			if got, err := read(t, "s3://bucket/key", remote.Options{}); err != nil || got != "0123456789" {
				t.Errorf("silent %v: %q, %v", silent, got, err)
			}
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("silent %v: %v", silent, took)
		}
		// The SDK goes on when our requests have ended, and would ask who has the port by then.
		if silent {
			close(speaks)
		}
		select {
		case <-given:
		case <-time.After(time.Minute): // it has given up
		}
		service.Close()
	}
}
