package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

// native returns the URL of the RNTuple at a path of a store.
func (s *store) native(path string) string {
	return "ntpl+s3+" + os.Getenv("AWS_ENDPOINT_URL_S3") + "/" + path
}

// TestNativeValues takes all RNTuples of testdata/good apart, and compares their values with those
// in the files.
func TestNativeValues(t *testing.T) {
	remotetest.CheckGoroutines(t)
	s := newStore(t)
	cache, err := remote.NewCache(filepath.Join(t.TempDir(), "cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range remotetest.GoodFiles(t) {
		infos, err := rntuple.ListFile(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, info := range infos {
			s.reset()
			objects := remotetest.TakeApart(t, path, info.Path)
			at := fmt.Sprintf("bucket/%s/%d/%s", strange, i, filepath.Base(path))
			objects.Put(t, at, s.put)
			url := s.native(strings.ReplaceAll(at, "%", "%25"))
			want, err := remotetest.Values(path, info.Path, nil)
			if err != nil {
				t.Fatal(path, err)
			}
			ways := []*rntuple.ReadOptions{nil, {ReadAhead: -1, Workers: 1},
				{ReadAhead: 5000, Remote: remote.Options{Cache: cache}}}
			if testing.Short() {
				ways = ways[:1]
			}
			for _, opts := range ways {
				got, err := remotetest.Values(url, "", opts)
				if err != nil || got != want {
					t.Errorf("%s of %s: %v; %d bytes of JSON, want %d", info.Path, path, err, len(got), len(want))
				}
			}
			if n := int64(len(s.requests())); n < int64(len(objects.All)) {
				t.Errorf("%d requests of %d objects", n, len(objects.All))
			}
		}
	}
}

// severalPages is a file of testdata/good with several clusters and many pages.
const severalPages = "types_zstd_many.root"

// newNative puts the objects of a file of testdata/good into a store, at bucket/n.
func newNative(t *testing.T, s *store, file string) *remotetest.Objects {
	t.Helper()
	infos, err := rntuple.ListFile(context.Background(), filepath.Join(remotetest.Good(t), file), nil)
	if err != nil {
		t.Fatal(err)
	}
	o := remotetest.TakeApart(t, filepath.Join(remotetest.Good(t), file), infos[0].Path)
	o.Put(t, "bucket/n", s.put)
	return o
}

// TestNativeRequests counts requests: each object is read once, and several at a time.
func TestNativeRequests(t *testing.T) {
	s := newStore(t)
	o := newNative(t, s, severalPages)
	var now, most atomic.Int64
	s.fault = func(http.ResponseWriter, *http.Request, int) bool {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		for wait := 0; wait < 100 && most.Load() < 4; wait++ { // for others
			time.Sleep(time.Millisecond)
		}
		now.Add(-1)
		return false
	}
	r, err := rntuple.Open(s.native("bucket/n"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := s.requests(); len(got) != 3 {
		t.Errorf("opening takes the requests %q, want 3: of anchor, header and footer", got)
	}
	stats := new(remote.Stats)
	if _, err := remotetest.Values(s.native("bucket/n"), "",
		&rntuple.ReadOptions{Remote: remote.Options{Stats: stats}}); err != nil {
		t.Fatal(err)
	}
	c := stats.Count()
	if want := int64(len(o.All) + 1); c.Requests != want || int64(len(s.requests())) != want {
		t.Errorf("%d requests, want %d", c.Requests, want)
	}
	if total := total(o); c.Wanted != total || c.Read != total+int64(len(o.JSON(t))) || c.FileSize != 0 || c.Files != 1 {
		t.Errorf("%+v, want %d bytes", c, total)
	}
	cache, err := remote.NewCache(filepath.Join(t.TempDir(), "cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{len(o.All) + 1, 1} { // the anchor is asked for again
		if _, err := remotetest.Values(s.native("bucket/n"), "",
			&rntuple.ReadOptions{Remote: remote.Options{Cache: cache}}); err != nil {
			t.Fatal(err)
		}
		if n := len(s.requests()); n != want {
			t.Errorf("%d requests with a cache, want %d", n, want)
		}
	}
	if most.Load() < 4 {
		t.Errorf("at most %d requests were under way at a time", most.Load())
	}
}

// total returns the bytes of all objects.
func total(o *remotetest.Objects) (n int64) {
	for _, b := range o.All {
		n += int64(len(b))
	}
	return n
}

// A nativeFault is what may be wrong with an object.
type nativeFault struct {
	name   string
	change func(b []byte) []byte                                                // of the object; nil: it is missing
	answer func(w http.ResponseWriter, r *http.Request, n int64, size int) bool // to the n-th request for it
	is     error                                                                // nil: the values are right
}

var nativeFaults = []nativeFault{
	{name: "missing", change: func([]byte) []byte { return nil }, is: fs.ErrNotExist},
	{name: "truncated", change: func(b []byte) []byte { return b[:len(b)-1] }, is: frame.ErrCorrupt},
	{name: "empty", change: func([]byte) []byte { return []byte{} }, is: frame.ErrCorrupt},
	{name: "longer", change: func(b []byte) []byte { return append(slices.Clip(b), 0) }, is: frame.ErrCorrupt},
	{name: other, change: func(b []byte) []byte { b = slices.Clone(b); b[max(0, len(b)-9)] ^= 0x40; return b },
		is: errAny},
	{name: "forbidden", answer: status(http.StatusForbidden), is: fs.ErrPermission},
	{name: "redirected", answer: status(http.StatusTemporaryRedirect), is: errAny},
	{name: "fails", answer: status(http.StatusServiceUnavailable), is: errAny},
	{name: "fails once", answer: func(w http.ResponseWriter, r *http.Request, n int64, _ int) bool {
		if n == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
		return n == 1
	}},
	{name: "cut once", answer: func(w http.ResponseWriter, r *http.Request, n int64, size int) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(size))
		w.Write(make([]byte, size/2))
		panic(http.ErrAbortHandler)
	}},
	{name: "encoded", answer: func(w http.ResponseWriter, r *http.Request, n int64, _ int) bool {
		w.Header().Set("Content-Encoding", "gzip")
		return false
	}, is: errAny},
}

// other is the fault of an object that has other bytes.
const other = "other"

var errAny = errors.New("any error")

func status(code int) func(http.ResponseWriter, *http.Request, int64, int) bool {
	return func(w http.ResponseWriter, r *http.Request, _ int64, _ int) bool {
		w.Header().Set("Location", "http://"+r.Host+"/bucket/n/0")
		w.WriteHeader(code)
		return true
	}
}

// TestNativeFaults has objects fail in all ways: the values are right or there is an error that
// names the object, and verify finds it.
func TestNativeFaults(t *testing.T) {
	remotetest.CheckGoroutines(t)
	s := newStore(t)
	for _, file := range []string{"special_multirep.root", "special_nochecksum.root"} {
		s.reset()
		o := newNative(t, s, file)
		want, err := remotetest.Values(s.native("bucket/n"), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		for id := range o.All {
			if n := len(o.All); id > 2 && id < n-2 && (testing.Short() || id%(n/6) != 0) {
				continue
			}
			for _, f := range nativeFaults {
				if file == "special_nochecksum.root" && f.name == other {
					continue // nothing tells that a page has other bytes
				}
				t.Run(fmt.Sprintf("%s/%d/%s", file, id, f.name), func(t *testing.T) { f.check(t, s, id, o.All[id], want) })
			}
		}
	}
}

// check checks what is read if an object has the fault.
func (f *nativeFault) check(t *testing.T, s *store, id int, object []byte, want string) {
	name := fmt.Sprintf("bucket/n/%d", id)
	var n atomic.Int64
	s.fault = nil
	if f.answer != nil {
		s.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			return r.URL.Path == "/"+name && f.answer(w, r, n.Add(1), len(object))
		}
	}
	if f.change != nil {
		defer s.put(name, object)
		if b := f.change(object); b != nil {
			s.put(name, b)
		} else {
			s.remove(name)
		}
	}
	quick := remote.Options{Backoff: 1, Timeout: 5 * time.Second}
	got, err := remotetest.Values(s.native("bucket/n"), "", &rntuple.ReadOptions{Remote: quick})
	switch {
	case f.is == nil && (err != nil || got != want):
		t.Error(err)
	case f.is != nil && (err == nil || f.is != errAny && !errors.Is(err, f.is)):
		t.Errorf("%v, want %v", err, f.is)
	case f.is != nil && f.name != other && !strings.Contains(err.Error(), fmt.Sprintf("object %d", id)):
		t.Errorf("%v, which does not name it", err)
	}
	n.Store(0)
	problems := 0
	_, err = verify.File(t.Context(), s.native("bucket/n"), func(p verify.Problem) error {
		problems++
		if f.is == nil || p.Offset >= 0 {
			t.Error(p)
		}
		return nil
	}, &verify.Options{Remote: quick})
	if err != nil || (problems > 0) != (f.is != nil) {
		t.Errorf("%d problems, %v", problems, err)
	}
}

// TestNativeNames opens by the name in the header only, and has what is not read refused.
func TestNativeNames(t *testing.T) {
	s := newStore(t)
	o := newNative(t, s, "special_attributes.root")
	url := s.native("bucket/n/")
	infos, err := rntuple.ListFile(context.Background(), url, nil)
	if err != nil || len(infos) != 1 {
		t.Fatal(infos, err)
	}
	r, err := rntuple.Open("NTPL+S3"+url[len("ntpl+s3"):], infos[0].Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if info := r.FileInfo(); !info.Remote || !info.Objects || info.Size < total(o) {
		t.Errorf("%+v, of objects with %d bytes", info, total(o))
	}
	if plan, err := workunits.Make(t.Context(), []string{url}, nil); err != nil || plan.Files[0].Entries != r.NumEntries() {
		t.Errorf("planned: %+v, %v", plan, err)
	}
	sets := r.AttributeSets()
	if len(sets) == 0 {
		t.Error("no attribute sets are listed")
	}
	for _, set := range sets {
		if _, err := r.OpenAttributes(set.Name); !errors.Is(err, rntuple.ErrUnsupported) {
			t.Errorf("attribute set %s: %v", set.Name, err)
		}
	}
	if _, err := surgery.Merge(t.Context(), filepath.Join(t.TempDir(), "out.root"), []surgery.Input{{Path: url}},
		nil); !errors.Is(err, rntuple.ErrUnsupported) {
		t.Errorf("copied without its attribute sets: %v", err)
	}
	summary, err := verify.File(t.Context(), url, func(p verify.Problem) error { t.Error(p); return nil }, nil)
	if err != nil || !strings.Contains(strings.Join(summary.Skipped, "; "), "attribute sets") {
		t.Errorf("verify: %+v, %v", summary, err)
	}
	if _, err := r.Refresh(); !errors.Is(err, rntuple.ErrUnsupported) {
		t.Errorf("Refresh: %v", err)
	}
	c, err := rntuple.OpenChain("", []string{url, url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n, err := c.NumEntries(); n != 2*r.NumEntries() || err != nil {
		t.Errorf("a chain of two has %d entries, %v; one has %d", n, err, r.NumEntries())
	}
	if _, err := rntuple.Open(url, "other", nil); !errors.Is(err, rntuple.ErrNotFound) {
		t.Errorf("another name: %v", err)
	}
	if _, err := remote.Open(t.Context(), url, nil); !errors.Is(err, remote.ErrObjects) {
		t.Errorf("as a file: %v", err)
	}
	if err := remote.CanUpload(url); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("writing: %v", err)
	}
	for bad, want := range map[string]string{
		"ntpl+s3://host/bucket/n":             "unknown scheme",
		"ntpl+s3+https:///bucket/n":           "names no object",
		"ntpl+s3+https://host/":               "names no object",
		"ntpl+s3+https://KEY:secret@host/b/n": "credentials are not taken from a URL",
		"ntpl+s3+https://host/b/n?secret":     `must not have a "?"`,
		"ntpl+s3+https://host/b/n#secret":     `must not have a "?"`,
	} {
		if _, err := rntuple.Open(bad, "", nil); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
}

// TestNativeCredentials signs with ROOT's variables and with Amazon's, and not for other hosts.
func TestNativeCredentials(t *testing.T) {
	other := newStore(t)
	otherURL := os.Getenv("AWS_ENDPOINT_URL_S3")
	s := newStore(t) // whose environment holds from now on
	o := newNative(t, s, "objects.root")
	url := s.native("bucket/n")
	for _, test := range []struct {
		name      string
		env       map[string]string
		anonymous bool
		region    string
		want      string // in the error; empty: none
	}{
		{name: "Amazon's"},
		{name: "another region", region: "eu-north-1"},
		{name: "ROOT's", env: map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
			"S3_ACCESS_KEY": accessKey, "S3_SECRET_KEY": secretKey}},
		{name: "ROOT's and region", env: map[string]string{"AWS_PROFILE": "none", "S3_ACCESS_KEY": accessKey,
			"S3_SECRET_KEY": secretKey, "S3_REGION": "default"}, region: "default"},
		{name: "ROOT's before Amazon's", env: map[string]string{"S3_ACCESS_KEY": accessKey, "S3_SECRET_KEY": "wrong"},
			want: "SignatureDoesNotMatch"},
		{name: "half of ROOT's", env: map[string]string{"S3_ACCESS_KEY": accessKey}, want: "S3_SECRET_KEY is not"},
		{name: "no region", env: map[string]string{"S3_REGION": "x.evil/"}, want: "S3_REGION"},
		{name: "anonymous", anonymous: true, want: "AccessDenied"},
		{name: "none", env: map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, want: "AccessDenied"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			s.region = "us-east-1"
			if test.region != "" {
				s.region = test.region
			}
			_, err := remotetest.Values(url, "", &rntuple.ReadOptions{Remote: remote.Options{Anonymous: test.anonymous}})
			if (err == nil) != (test.want == "") || err != nil &&
				(!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secretKey)) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	s.region = "us-east-1"
	o.Anchor["urlTemplate"] = otherURL + "/elsewhere/${objid}"
	o.Put(t, "bucket/n", s.put)
	o.Put(t, "elsewhere", other.put)
	other.public = true
	other.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		for name := range r.Header {
			if name == "Authorization" || strings.HasPrefix(name, "X-Amz-") {
				t.Errorf("another host gets the header %s", name)
			}
		}
		return false
	}
	if _, err := remotetest.Values(url, "", nil); err != nil {
		t.Error(err)
	}
	if n := len(other.requests()); n != len(o.All) {
		t.Errorf("%d requests of another host, want %d", n, len(o.All))
	}
}

// TestNativeCanceled ends requests that wait.
func TestNativeCanceled(t *testing.T) {
	remotetest.CheckGoroutines(t)
	s := newStore(t)
	o := newNative(t, s, severalPages)
	for _, id := range []int{-1, 0, 1, len(o.All) - 2, len(o.All) - 1} {
		ctx, cancel := context.WithCancel(t.Context())
		path := "/bucket/n"
		if id >= 0 {
			path += fmt.Sprintf("/%d", id)
		}
		s.fault = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
			if r.URL.Path != path {
				return false
			}
			cancel()
			<-r.Context().Done()
			return true
		}
		if _, err := remotetest.Values(s.native("bucket/n"), "", &rntuple.ReadOptions{Context: ctx}); !errors.Is(err,
			context.Canceled) {
			t.Errorf("object %d: %v", id, err)
		}
		cancel()
	}
	s.fault = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		<-r.Context().Done()
		return true
	}
	_, err := remotetest.Values(s.native("bucket/n"), "",
		&rntuple.ReadOptions{Remote: remote.Options{Timeout: 10 * time.Millisecond, Attempts: 2, Backoff: 1}})
	if !errors.Is(err, remote.ErrTimeout) {
		t.Errorf("a store that does not answer: %v", err)
	}
}
