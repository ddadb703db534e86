package rntbeam_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"google.golang.org/grpc"

	"github.com/go-rntuple/go-rntuple/bridge/rntbeam"
	"github.com/go-rntuple/go-rntuple/rntuple/workunits"
)

func init() { beam.RegisterDoFn(&slowFn{}) }

// slowFn takes a while for each event.
type slowFn struct{}

func (f *slowFn) ProcessElement(k int64, e event) (int64, event) {
	time.Sleep(2 * time.Millisecond)
	return k, e
}

// A pool starts workers as processes: this program, which beam.Init makes a worker.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	sync.Mutex
	workers map[string]*exec.Cmd
	started int
}

func (p *pool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	worker := exec.Command(program, "-worker", "-id="+r.GetWorkerId(),
		"-logging_endpoint="+r.GetLoggingEndpoint().GetUrl(), "-control_endpoint="+r.GetControlEndpoint().GetUrl())
	if err := worker.Start(); err != nil {
		return nil, err
	}
	p.Lock()
	defer p.Unlock()
	p.workers[r.GetWorkerId()] = worker
	p.started++
	return &fnpb.StartWorkerResponse{}, nil
}

func (p *pool) StopWorker(_ context.Context, r *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	p.kill(r.GetWorkerId())
	return &fnpb.StopWorkerResponse{}, nil
}

// kill kills a worker, or all, and returns how many.
func (p *pool) kill(id string) (n int) {
	p.Lock()
	defer p.Unlock()
	for other, worker := range p.workers {
		if id == "" || id == other {
			worker.Process.Kill()
			worker.Wait()
			delete(p.workers, other)
			n++
		}
	}
	return n
}

// TestKilledWorkers has a cluster of Flink run workers as processes, and kills them all, three
// times, as they write. The files have each entry once, in order if asked, and no other file is
// left.
func TestKilledWorkers(t *testing.T) {
	if flink == "" {
		t.Skip("RNTBEAM_FLINK is not set; TestRetries has workers fail without it")
	}
	const files, entries = 6, 1000
	pattern := writeFiles(t, files, entries, 100)
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := workunits.Make(t.Context(), paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	workers := &pool{workers: map[string]*exec.Cmd{}}
	server := grpc.NewServer()
	fnpb.RegisterBeamFnExternalWorkerPoolServer(server, workers)
	go server.Serve(listener)
	defer server.Stop()
	defer workers.kill("")

	dir := t.TempDir()
	bundles, ordered := filepath.Join(dir, "bundles"), filepath.Join(dir, "ordered")
	p, s := beam.NewPipelineWithRoot()
	numbered := beam.ParDo(s, &slowFn{}, rntbeam.ReadPlan[event](s, plan,
		&rntbeam.ReadOptions{Numbered: true, BlockBytes: 1, SplitBytes: 1}))
	rntbeam.WriteOrdered[event](s, filepath.Join(ordered, "out.root"), numbered, nil)
	rntbeam.Write[event](s, filepath.Join(bundles, "out.root"), beam.DropKey(s, numbered), nil)

	ctx, done := context.WithCancel(context.Background())
	killed := make(chan int)
	go func() {
		n, seen := 0, map[string]bool{}
		for kills := 0; kills < 3 && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
			begun, _ := filepath.Glob(filepath.Join(dir, "*", ".out.root-*.tmp", "*")) // by bundles, complete or not
			fresh := false
			for _, path := range begun {
				fresh = fresh || !seen[path]
				seen[path] = true
			}
			if !fresh {
				continue
			}
			time.Sleep(time.Duration(500*(kills+1)) * time.Millisecond)
			if some := workers.kill(""); some > 0 {
				n += some
				kills++
				begun, _ := filepath.Glob(filepath.Join(dir, "*", ".out.root-*.tmp", "*"))
				for _, path := range begun {
					seen[path] = true
				}
			}
		}
		killed <- n
	}()
	*jobopts.Endpoint, *jobopts.EnvironmentType, *jobopts.EnvironmentConfig = flink, "EXTERNAL", listener.Addr().String()
	*jobopts.Parallelism = 2
	_, err = beam.Run(context.Background(), "universal", p)
	done()
	n := <-killed
	*jobopts.EnvironmentConfig = ""
	if err != nil {
		t.Fatal(err)
	}
	if n < 2 {
		t.Error(n, " workers were killed")
	}
	t.Logf("%d workers started, %d of them killed", workers.started, n)
	for _, dir := range []string{bundles, ordered} {
		paths := written(t, dir)
		got := ids(t, paths)
		seen := map[int64]int{}
		for i, id := range got {
			seen[id]++
			if dir == ordered && id != int64(i) {
				t.Fatalf("%s: entry %d is %d", dir, i, id)
			}
		}
		if len(got) != files*entries || len(seen) != files*entries {
			t.Errorf("%s: %d entries, %d of them different, want %d", dir, len(got), len(seen), files*entries)
		}
		t.Log(fmt.Sprint(len(got), " entries in ", len(paths), " files"))
	}
}
