package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	"github.com/go-rntuple/go-rntuple/remote"
	_ "github.com/go-rntuple/go-rntuple/remote/s3"
	"github.com/go-rntuple/go-rntuple/remote/s3/internal/limits"
	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestMain is the gateway if the environment says so: there can be one in a process, which it makes
// its own folder the working directory of.
func TestMain(m *testing.M) {
	if dir := os.Getenv("GATEWAY_FOLDER"); dir != "" {
		if err := serve(dir, os.Getenv("GATEWAY_ADDRESS")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serve serves a folder until standard input ends.
func serve(dir, addr string) error {
	root, side := filepath.Join(dir, "root"), filepath.Join(dir, "side")
	for _, dir := range []string{filepath.Join(root, "bucket"), side} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	attributes, err := meta.NewSideCar(side)
	if err != nil {
		return err
	}
	files, err := posix.New(root, attributes, posix.PosixOpts{SideCarDir: side})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return embedgw.RunVersityGW(ctx, files, &embedgw.Config{
		RootUserAccess: "access", RootUserSecret: "secretsecret", Region: "eu-central-1",
		Ports: []string{addr}, KeepAlive: true, Quiet: true, MaxConnections: 256, MaxRequests: 256, MultipartMaxParts: 10000,
	})
}

// start starts a gateway to a folder with an empty bucket "bucket", and makes the environment lead
// to it.
func start(t *testing.T) {
	addr := remotetest.FreeAddress(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GATEWAY_FOLDER="+t.TempDir(), "GATEWAY_ADDRESS="+addr)
	cmd.Stderr = os.Stderr
	stop, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	none := t.TempDir()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": "http://" + addr, "AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "secretsecret",
		"AWS_SESSION_TOKEN": "",
		"AWS_REGION":        "eu-central-1", "AWS_PROFILE": "", "AWS_CONFIG_FILE": none + "/config",
		"AWS_SHARED_CREDENTIALS_FILE": none + "/credentials",
		"AWS_EC2_METADATA_DISABLED":   "true", "AWS_NO_SIGN_REQUEST": "", "AWS_ENDPOINT_URL_S3": "",
	} {
		t.Setenv(name, value)
	}
}

func upload(t *testing.T, url string, b []byte, replace bool) error {
	return remote.Upload(t.Context(), url, bytes.NewReader(b), int64(len(b)), &remote.UploadOptions{Replace: replace})
}

func read(t *testing.T, url string, o remote.Options) ([]byte, error) {
	f, err := remote.Open(t.Context(), url, &o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, f.Len())
	if len(b) > 0 {
		err = f.ReadRanges(t.Context(), []remote.Range{{Data: b}})
	}
	return b, err
}

func TestGateway(t *testing.T) {
	start(t)
	const dir = "s3://bucket/a b/ü/x+y=(1)&$@~*'!,;:/"
	t.Run("values", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(remotetest.Good(t), "*.root"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, path := range files {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := upload(t, dir+filepath.Base(path), b, false); err != nil {
				t.Fatal(err)
			}
		}
		remotetest.CheckValues(t, dir, nil)
		remotetest.CheckValues(t, dir, &rntuple.ReadOptions{Remote: remote.Options{Tail: 2048}})
	})
	t.Run("uploads", func(t *testing.T) {
		put, part := limits.Put, limits.Part
		limits.Put, limits.Part = 6<<20, 5<<20
		defer func() { limits.Put, limits.Part = put, part }()
		for _, size := range []int{0, 1, 6 << 20, 6<<20 + 1, 15 << 20, 17<<20 + 5} {
			for _, replace := range []bool{false, true} {
				b := make([]byte, size)
				rand.NewChaCha8([32]byte{1}).Read(b)
				url := fmt.Sprint("s3://bucket/object", size)
				if err := upload(t, url, b, replace); err != nil {
					t.Fatalf("%d bytes, replace %v: %v", size, replace, err)
				}
				if got, err := read(t, url, remote.Options{}); err != nil || !bytes.Equal(got, b) {
					t.Errorf("%d bytes, replace %v: %d bytes, %v", size, replace, len(got), err)
				}
				if err := upload(t, url, []byte("other"), false); !errors.Is(err, fs.ErrExist) {
					t.Errorf("%d bytes, not to be replaced: %v", size, err)
				}
			}
		}
	})
	t.Run("errors", func(t *testing.T) {
		for _, test := range []struct {
			url  string
			env  map[string]string
			o    remote.Options
			want error
			text string
		}{
			{"s3://bucket/none", nil, remote.Options{}, fs.ErrNotExist, "NoSuchKey"},
			{"s3://none/none", nil, remote.Options{}, fs.ErrNotExist, "NoSuchBucket"},
			{"s3://bucket/object1", map[string]string{"AWS_SECRET_ACCESS_KEY": "wrong"}, remote.Options{}, fs.ErrPermission,
				"SignatureDoesNotMatch"},
			{"s3://bucket/object1", map[string]string{"AWS_ACCESS_KEY_ID": "wrong"}, remote.Options{},
				fs.ErrPermission, "XAdminUserNotFound"},
			{"s3://bucket/object1", nil, remote.Options{Anonymous: true}, fs.ErrPermission, "AccessDenied"},
		} {
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			_, err := read(t, test.url, test.o)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%s: %v, want %s", test.url, err, test.text)
			}
			for name := range test.env {
				t.Setenv(name, map[string]string{"AWS_SECRET_ACCESS_KEY": "secretsecret", "AWS_ACCESS_KEY_ID": "access"}[name])
			}
		}
	})
	t.Run("region", func(t *testing.T) {
		t.Setenv("AWS_REGION", "us-west-2") // the gateway says which one it is
		if _, err := read(t, "s3://bucket/object1", remote.Options{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("changed", func(t *testing.T) {
		f, err := remote.Open(t.Context(), "s3://bucket/object6291456", &remote.Options{Tail: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b := make([]byte, f.Len())
		if err := upload(t, "s3://bucket/object6291456", b, true); err != nil {
			t.Fatal(err)
		}
		if err := f.ReadRanges(t.Context(), []remote.Range{{Data: b}}); !errors.Is(err, remote.ErrChanged) {
			t.Error(err)
		}
	})
}
