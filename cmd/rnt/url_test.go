package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
)

// TestReadURLs has each command that reads print the same of files that are far away as of those on
// disk.
func TestReadURLs(t *testing.T) {
	files := []string{dimuon}
	for i, path := range remotetest.GoodFiles(t) { // all of them are read by the tests of the protocols
		if i%5 == 0 {
			files = append(files, path)
		}
	}
	b, byHTTP, byS3 := newBucket(t)
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b.objects["/bucket/"+filepath.Base(path)] = content
	}
	some := files[:3]
	t.Run("http", func(t *testing.T) { readURLs(t, files, byHTTP) })
	t.Run("s3", func(t *testing.T) { readURLs(t, some, byS3) })
	t.Run("root", func(t *testing.T) {
		x := remotetest.StartXRootD(t, files, "")
		readURLs(t, some, "root://"+x.Addr+"//")
	})
}

func readURLs(t *testing.T, files []string, base string) {
	good := 0
	for _, path := range files {
		url := base + filepath.Base(path)
		for _, command := range []string{
			"ls FILE", "ls --json FILE", "schema FILE", "schema --json FILE", "cat FILE", "head -3 FILE", "tail -3 FILE",
			"stat FILE", "stat --json FILE",
			"attrs FILE", "verify FILE", "dump FILE", "diff FILE LOCAL", "arrow FILE",
		} {
			run := func(name string) (string, string, int) {
				stdout, stderr, status := try(clitest.Arguments(command, "FILE", name, "LOCAL", path)...)
				plain := strings.NewReplacer(name, "FILE", "open "+name, "FILE").Replace
				return strings.Join(strings.Fields(plain(stdout)), " "), plain(stderr), status
			}
			stdout, stderr, status := run(url)
			want, wantErr, wantStatus := run(path)
			if stdout != want || stderr != wantErr || status != wantStatus {
				t.Errorf("rnt %s: %s: status %d, output\n%s%s\nwant %d\n%s%s", command, url, status, stdout, stderr,
					wantStatus, want, wantErr)
			} else if status == exitOK {
				good++
			}
		}
	}
	if good < 11*len(files) {
		t.Errorf("%d commands succeed, of %d files", good, len(files))
	}
	if _, stderr, status := try("tail", "-F", base+filepath.Base(files[0])); status != exitUsage ||
		!strings.HasPrefix(stderr, "rnt: cannot follow a remote file") {
		t.Errorf("tail -F: %d, %s", status, stderr)
	}
}

// TestTokens has no command print the token in a URL, whether the file is good, missing, damaged,
// or of another schema.
func TestTokens(t *testing.T) {
	b, byHTTP, _ := newBucket(t)
	content, err := os.ReadFile(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte{}, content...)
	for i := 5000; i < len(damaged); i += 5000 {
		damaged[i]++
	}
	other, err := os.ReadFile(made(t, "left", leftFields, leftLines))
	if err != nil {
		t.Fatal(err)
	}
	b.objects["/bucket/good.root"], b.objects["/bucket/damaged.root"], b.objects["/bucket/other.root"] = content, damaged,
		other
	t.Chdir(t.TempDir())
	failed := 0
	for _, name := range []string{"good.root", "missing.root", "damaged.root", "other.root"} {
		for _, command := range []string{
			"ls IN", "ls --json IN", "ls IN IN", "schema IN", "cat IN", "stat IN", "stat IN none", "attrs IN", "verify IN",
			"dump IN", "diff IN GOOD", "diff GOOD IN", "diff --json IN GOOD", "arrow IN",
			"draw IN run", "draw --json GOOD IN run", "draw GOOD IN Nope", "merge --force OUT GOOD IN",
			"merge --all --force OUT GOOD IN", "slim --fields run --force OUT IN",
			"skim --where run>1 --force OUT GOOD IN", "concat --force OUT IN[5:]", "concat --force OUT IN[5000000:]",
			"split --entries 50000 OUT IN", "hmerge --force OUT GOOD IN", "repack --force OUT IN",
			"rename --force --to x --out OUT IN", "recover --force OUT IN", "convert --force GOOD IN OUT",
			"convert --force GOOD IN out.csv", "plan --force plan.json GOOD IN",
		} {
			stdout, stderr, status := try(clitest.Arguments(command, "IN", byHTTP+name+"?authz=secret", "GOOD",
				byHTTP+"good.root?authz=secret", "OUT", "out.root")...)
			if strings.Contains(stdout+stderr, "secret") {
				t.Errorf("rnt %s of %s: status %d\n%.300s%s", command, name, status, stdout, stderr)
			}
			if status == exitError {
				failed++
			}
		}
	}
	if failed < 50 {
		t.Errorf("%d commands fail", failed)
	}
}
