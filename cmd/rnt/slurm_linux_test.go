package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
)

// A slurm is Slurm with one node, this one: its own slurmctld, slurmd and munged, which listen to
// nobody else.
type slurm struct {
	t   *testing.T
	env []string // for Slurm's commands
}

// startSlurm starts a slurm, which ends with the test.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	if os.Getenv("RNTUPLE_SLURM") == "" {
		t.Skip("skipped: RNTUPLE_SLURM is not set; see the stage slurm in .ci/stages")
	}
	path := os.Getenv("PATH") + ":/usr/sbin:/sbin"
	t.Setenv("PATH", path)
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("skipped: %v; Debian's packages are munge, slurmctld, slurmd and slurm-client", err)
		}
	}
	dir, err := os.MkdirTemp("", "slurm") // short, for the paths of sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	key := bytes.Repeat([]byte("go-rntuple"), 103)
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "key"), key, 0o400)); err != nil {
		t.Fatal(err)
	}
	// The node has more processors than there are, so that tasks run beside each other.
	config := strings.NewReplacer("DIR", dir, "HOST", host, "USER", me.Username, "PORT1", freePort(t), "PORT2", freePort(t)).Replace(`ClusterName=test
SlurmctldHost=HOST(127.0.0.1)
SlurmctldPort=PORT1
SlurmdPort=PORT2
AuthType=auth/munge
AuthInfo=socket=DIR/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
SlurmdParameters=config_overrides
ReturnToService=2
SlurmUser=USER
SlurmdUser=USER
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd.pid
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=100000,bf_interval=1
NodeName=HOST NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=HOST Default=YES MaxTime=INFINITE State=UP
`)
	file := filepath.Join(dir, "slurm.conf")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &slurm{t, append(os.Environ(), "SLURM_CONF="+file)}
	s.daemon(dir, "munged", "-F", "--force", "--key-file="+dir+"/key", "--socket="+dir+"/munge",
		"--pid-file="+dir+"/munged.pid", "--log-file="+dir+"/munged.log", "--seed-file="+dir+"/seed")
	s.until("munged is there", func() bool { _, err := os.Stat(dir + "/munge"); return err == nil })
	s.daemon(dir, "slurmctld", "-D")
	s.daemon(dir, "slurmd", "-D")
	s.until("the node is idle", func() bool {
		state, err := s.command("sinfo", "-h", "-o", "%T").Output()
		return err == nil && strings.TrimSpace(string(state)) == "idle"
	})
	t.Cleanup(func() { // before the daemons are stopped
		s.command("scancel", "--full", "--signal=KILL", "--user="+me.Username).Run()
		s.command("scancel", "--user="+me.Username).Run()
		s.until("no job is left", func() bool { return len(s.tasks("R,PD,CG")) == 0 })
	})
	return s
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// daemon starts a program of Slurm, which ends with the test.
func (s *slurm) daemon(dir, name string, args ...string) {
	s.t.Helper()
	cmd := s.command(name, args...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		ended := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		ended.Stop()
		if s.t.Failed() {
			s.t.Logf("%s:\n%s", name, log.String())
		}
	})
}

// command returns a command of Slurm.
func (s *slurm) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
	return cmd
}

// shell runs a line as a user would who has rnt, and returns what it prints.
func (s *slurm) shell(line string) string {
	s.t.Helper()
	cmd := s.command("bash", "-c", line)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s%s", line, err, out, problems.String())
	}
	return string(out)
}

// tasks returns the tasks of arrays that are not done. They are in the given states: R for running,
// PD for pending, CG for completing.
func (s *slurm) tasks(states string) []string {
	s.t.Helper()
	out, err := s.command("squeue", "-h", "-r", "-o", "%i", "--states="+states).Output()
	if err != nil {
		s.t.Errorf("squeue: %v", err)
	}
	return strings.Fields(string(out))
}

// until waits until something is so.
func (s *slurm) until(what string, is func() bool) {
	s.t.Helper()
	for start := time.Now(); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Since(start) > 3*time.Minute {
			s.t.Errorf("waited in vain: %s", what)
			return
		}
	}
}

// TestSlurm has a real Slurm run the job of docs/guides/scaleout.md for 40 units, some of them in
// two tasks at the same time. Tasks are killed, outputs are damaged and removed. The document's
// next line submits what is missing. What is joined has the same bytes as without Slurm and faults.
func TestSlurm(t *testing.T) {
	document, err := os.ReadFile("../../docs/guides/scaleout.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(document), "\n### Slurm\n")
	section, _, _ = strings.Cut(section, "\n### ")
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(blocks) != 3 || !strings.HasPrefix(blocks[0][1], "#!") {
		t.Fatalf("docs/guides/scaleout.md has other blocks of code for Slurm: %q", blocks)
	}
	job, again, histograms := blocks[0][1], blocks[1][1], blocks[2][1]
	in, err := filepath.Abs(dimuon)
	if err != nil {
		t.Fatal(err)
	}
	s := startSlurm(t)
	t.Chdir(t.TempDir())

	// The program rnt is this one.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("bin", 0o755); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nRNT_TEST_AS_TOOL=1 exec '%s' \"$@\"\n", self)
	if err := errors.Join(os.WriteFile("bin/rnt", []byte(script), 0o755),
		os.WriteFile("job.sh", []byte(job), 0o644)); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "PATH="+here+"/bin:"+os.Getenv("PATH"))

	// Ten files on a server that is slow while tasks are killed.
	rnt(t, "repack", "-q", "--cluster-size", "20000", "small.root", in)
	rnt(t, "split", "-q", "--entries", "8000", "files-%d.root", "small.root")
	var delay atomic.Int64
	files := remotetest.Files(".")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(delay.Load()))
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	var urls []string
	for i := range 10 {
		urls = append(urls, fmt.Sprintf("%s/files-%d.root", server.URL, i))
	}
	if n := decode[report](t, append([]string{"plan", "--json", "--units", "40", "plan.json"},
		urls...)...).Units; n != 40 {
		t.Fatalf("%d units", n)
	}

	delay.Store(int64(200 * time.Millisecond))
	s.shell("sbatch --array=0-19 job.sh; for i in 20 21 22 23; do sbatch --array=$i job.sh; sbatch --array=$i job.sh; done; sbatch --array=24-39 job.sh")
	killed := 0
	for killed < 15 && len(s.tasks("R,PD,CG")) > 0 {
		for _, task := range s.tasks("R") {
			if killed++; killed%3 == 0 { // as the system, or a user, ends it
				s.command("scancel", task).Run()
			} else {
				s.command("scancel", "--full", "--signal=KILL", task).Run()
			}
		}
	}
	delay.Store(0)
	s.until("the arrays are done", func() bool { return len(s.tasks("R,PD,CG")) == 0 })

	want := []string{"0", "11", "12", "26", "39"}
	for _, name := range []string{"0000.root", "0011.unit.json"} {
		os.Remove("parts/" + name) // if it is there at all
	}
	for name, damage := range map[string]func(b []byte) []byte{
		"0012.root":      func(b []byte) []byte { b[len(b)/2]++; return b },
		"0026.root":      func(b []byte) []byte { return b[:len(b)/2] },
		"0039.unit.json": func(b []byte) []byte { return b[:len(b)/2] },
	} {
		if _, err := os.Stat("parts/" + name); err == nil {
			change(t, "parts/"+name, damage)
		}
	}
	lost := 0
	for i := range 40 {
		if _, err := os.Stat(fmt.Sprintf("parts/%04d.unit.json", i)); err != nil && !slices.Contains(want, strconv.Itoa(i)) {
			want, lost = append(want, strconv.Itoa(i)), lost+1
		}
	}
	slices.SortFunc(want, func(a, b string) int { return len(a)*100 - len(b)*100 + strings.Compare(a, b) })
	stdout, stderr, status := try("merge", "--plan", "plan.json", "pairs.root", "parts")
	if status != exitError || stdout != strings.Join(want, ",")+"\n" {
		t.Errorf("merge: status %d, %swant %v\n%s", status, stdout, want, stderr)
	}
	t.Logf("%d tasks were killed, which lost %d units; to be done again: %s", killed, lost, stdout)
	if lost == 0 {
		t.Error("no task was killed before it was done")
	}
	s.shell(again)
	s.until("the array is done", func() bool { return len(s.tasks("R,PD,CG")) == 0 })
	s.shell(again)
	rnt(t, "skim", "-q", "--where", "nMuon == 2", "--fields", "Muon_*", "--unit", ":", "calm/parts", "plan.json")
	rnt(t, "merge", "-q", "--plan", "plan.json", "calm/pairs.root", "calm/parts")
	same(t, "parts", "calm/parts")
	one, err1 := os.ReadFile("pairs.root")
	two, err2 := os.ReadFile("calm/pairs.root")
	if err1 != nil || err2 != nil || !bytes.Equal(one, two) {
		t.Errorf("%d and %d bytes, which are not the same, %v, %v", len(one), len(two), err1, err2)
	}
	rnt(t, "skim", "-q", "--where", "nMuon == 2", "--fields", "Muon_*", "want.root", in)
	rnt(t, "diff", "want.root", "pairs.root")

	for i, line := range strings.Split(strings.TrimSpace(histograms), "\n") {
		s.shell(line)
		s.until("the histograms are filled", func() bool { return len(s.tasks("R,PD,CG")) == 0 })
		if i == 0 {
			rnt(t, "draw", "-q", "--range", "0:100", "--unit", ":", "--out", "calm/hists", "plan.json", "Muon_pt")
			same(t, "hists", "calm/hists")
		}
	}
	if b, err := os.ReadFile("pt.svg"); err != nil || !bytes.Contains(b, []byte("</svg>")) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	log, err := os.ReadFile("parts.log")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) { // those who were killed say so
		if strings.HasPrefix(line, "rnt: ") && !strings.HasPrefix(line, "rnt: terminated") {
			t.Errorf("a task failed: %s", line)
		}
	}
}
