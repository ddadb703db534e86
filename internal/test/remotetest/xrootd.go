package remotetest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An XRootD is xrootd itself, which serves files.
type XRootD struct {
	Addr    string // host and port
	Restart func() // ends it at once, and starts it again

	dir string
}

// StartXRootD starts an XRootD of copies of files until the test ends. In the configuration DIR
// stands for a folder which has what the functions put there; it is also the folder for caches. The
// files are in its folder data.
func StartXRootD(t testing.TB, files []string, config string, prepare ...func(dir string)) *XRootD {
	t.Helper()
	s := newXRootD(t, files, prepare...)
	stop := s.start(t, "xrootd", s.Addr, "all.export / r/o\noss.localroot DIR/data\n"+config)
	s.Restart = func() {
		stop()
		stop = s.start(t, "xrootd", s.Addr, "all.export / r/o\noss.localroot DIR/data\n"+config)
	}
	return s
}

// StartXRootDCluster starts an XRootD that redirects to another one, which has the files, and
// returns the first.
func StartXRootDCluster(t testing.TB, files []string) *XRootD {
	t.Helper()
	manager, server := newXRootD(t, files), newXRootD(t, files)
	listen := FreeAddress(t)
	_, port, _ := net.SplitHostPort(listen)
	config := "all.export / r/o\nall.manager localhost:" + port + "\ncms.delay startup 1 servers 1 lookup 1\nall.role "
	first, second := config+"manager\n", config+"server\noss.localroot DIR/data\n"
	// A program that does not find the others when it starts tries again only after ten seconds.
	manager.start(t, "cmsd", listen, first)
	server.start(t, "cmsd", "", second)
	server.await(t, "cmsd", "Waiting for primary server to login")
	server.start(t, "xrootd", server.Addr, second)
	manager.await(t, "cmsd", "Status changed to active")
	manager.await(t, "cmsd", "manager service enabled")
	manager.start(t, "xrootd", manager.Addr, first)
	return manager
}

// newXRootD makes the folder of an XRootD.
func newXRootD(t testing.TB, files []string, prepare ...func(dir string)) *XRootD {
	t.Helper()
	for _, program := range []string{"xrootd", "cmsd"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("skipped: xrootd-server is not installed")
		}
	}
	dir, err := os.MkdirTemp("/tmp", "xrootd") // the configuration has no names with spaces, and short ones of sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, sub := range []string{"data", "admin", "run"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		copyFile(t, f, filepath.Join(dir, "data", filepath.Base(f)))
	}
	for _, f := range prepare {
		f(dir)
	}
	return &XRootD{Addr: FreeAddress(t), dir: dir}
}

// File returns the path of one of the server's files.
func (s *XRootD) File(name string) string { return filepath.Join(s.dir, "data", name) }

// start starts one of the server's programs. If it listens at an address, it waits until it does.
func (s *XRootD) start(t testing.TB, program, addr, config string) (stop func()) {
	t.Helper()
	config = strings.ReplaceAll(config+"all.adminpath DIR/admin\nall.pidpath DIR/run\n", "DIR", s.dir)
	configFile := filepath.Join(s.dir, program+".cfg")
	if err := os.WriteFile(configFile, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{program, "-c", configFile, "-l", filepath.Join(s.dir, "run", program+".log"), "-s",
		filepath.Join(s.dir, "run", program+".pid"), "-I", "v4"}
	if addr != "" {
		_, port, _ := net.SplitHostPort(addr)
		args = append(args, "-p", port)
	}
	if os.Geteuid() == 0 { // which xrootd refuses to run as
		if out, err := exec.Command("chown", "-R", "65534:65534", s.dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		args = append([]string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}, args...)
	}
	for range 5 {
		var output strings.Builder
		command := exec.Command(args[0], args[1:]...)
		command.Dir, command.Stdout, command.Stderr = filepath.Join(s.dir, "run"), &output, &output
		command.Env = append(os.Environ(), "HOME="+s.dir, "XDG_CACHE_HOME="+s.dir)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { command.Wait(); close(ended) }()
		stop = func() { command.Process.Kill(); <-ended }
		t.Cleanup(stop)
		if addr == "" || listens(t, addr, ended) {
			return stop
		}
		t.Logf("%s ends before it listens: %v: %s\n%s", program, command.ProcessState, &output, s.log(program))
		if command.ProcessState.Exited() {
			break
		}
		// XRootD 5.5 calls getenv in one thread and setenv in another while it starts, and one
		// start in some hundreds ends with a segmentation fault there.
	}
	t.Fatalf("%s does not start", program)
	return nil
}

// listens waits until a program listens at an address, and reports whether it does before it ends.
func listens(t testing.TB, addr string, ended <-chan struct{}) bool {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			return false
		default:
		}
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return true
		}
	}
	t.Fatalf("nothing listens at %s for a minute", addr)
	return false
}

var ports atomic.Int32

func init() { ports.Store(rand.Int32N(10_000)) }

// FreeAddress returns an address that nobody listens at, another one with each call, for a program
// that takes no listener. Its port is below those that systems choose by themselves.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 20_000+ports.Add(1)%10_000))
		if err == nil {
			l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("all ports are taken")
	return ""
}

// Log returns the end of the server's log.
func (s *XRootD) Log() string {
	text := s.log("xrootd")
	return text[max(0, len(text)-4000):]
}

// log returns the log of one of the server's programs.
func (s *XRootD) log(program string) string {
	b, err := os.ReadFile(filepath.Join(s.dir, "run", program+".log"))
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(b)
}

// await waits until the log of one of the server's programs has a text.
func (s *XRootD) await(t testing.TB, program, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(s.log(program),
		text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not say %q:\n%s", program, text, s.log(program))
		}
	}
}

// Requests returns how many requests of each kind the server's log has, if it traces them. It waits
// until nothing is added.
func (s *XRootD) Requests() map[string]int {
	counts, last := map[string]int{}, -1
	for {
		b, _ := os.ReadFile(filepath.Join(s.dir, "run", "xrootd.log"))
		if len(b) == last {
			for _, m := range regexp.MustCompile(`req=([a-z]+) `).FindAllStringSubmatch(string(b), -1) {
				counts[m[1]]++
			}
			return counts
		}
		last = len(b)
		time.Sleep(200 * time.Millisecond)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
