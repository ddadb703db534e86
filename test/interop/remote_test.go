package interop

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-rntuple/go-rntuple/internal/test/remotetest"
	_ "github.com/go-rntuple/go-rntuple/remote/https"
	_ "github.com/go-rntuple/go-rntuple/remote/xrootd"
	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/columnar"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
	"github.com/go-rntuple/go-rntuple/rntuple/surgery"
)

// A remoteJob is what this library, ROOT and uproot do with a file at a URL; see
// testdata/gen/remote.py.
type remoteJob struct {
	Do      string   `json:"do"`
	URL     string   `json:"url,omitempty"`
	Fields  []string `json:"fields,omitempty"`
	Field   string   `json:"field,omitempty"`
	Values  []int    `json:"values,omitempty"`
	Out     string   `json:"out,omitempty"`
	Entries int      `json:"entries,omitempty"`
	Cluster int      `json:"cluster,omitempty"`

	name  string
	want  remoteResult // what comes of it; of a skim, what its output has
	pages int64        // bytes of the pages that are asked for
	goal  float64      // how many times as fast as others this library must be; 0: it does not matter
}

// whole reports whether uproot reads the whole file for the job: with thousands of requests, one
// after the other.
func (j *remoteJob) whole() bool { return j.Do == "all" || j.Do == "skim" }

// A remoteResult is what comes of it.
type remoteResult struct {
	Error   string
	Seconds float64
	Entries float64
	Sum     float64
}

// A remotePeer does jobs. All begin with opening the file.
type remotePeer struct {
	name   string
	scheme string
	do     func(remoteJob) remoteResult
}

// startPeer starts testdata/gen/remote.py.
func startPeer(t *testing.T, name string) func(remoteJob) remoteResult {
	t.Helper()
	dir, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "bin", "python"), "../../testdata/gen/remote.py", name)
	cmd.Env = append(os.Environ(), "PYTHONWARNINGS=ignore")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := cmp.Or(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	lines := bufio.NewReader(out)
	return func(j remoteJob) (r remoteResult) {
		err1 := json.NewEncoder(in).Encode(j)
		line, err2 := lines.ReadBytes('\n')
		if err := cmp.Or(err1, err2); err != nil {
			t.Fatalf("%s has ended: %v\n%s", name, err, &stderr)
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		return r
	}
}

// doRemote does a job with this library.
func doRemote(j remoteJob) (r remoteResult) {
	begin := time.Now()
	var err error
	switch j.Do {
	case "skim":
		r, err = skimRemote(j)
	case "all":
		r, err = readRemote(j, nil)
	default:
		r, err = readRemote(j, j.Fields)
	}
	if err != nil {
		r.Error = err.Error()
	}
	r.Seconds = time.Since(begin).Seconds()
	return r
}

// readRemote reads fields, nil for all, unless the job is to open the file only.
func readRemote(j remoteJob, fields []string) (r remoteResult, err error) {
	in, err := rntuple.Open(j.URL, "Events", nil)
	if err != nil {
		return r, err
	}
	defer in.Close()
	if r.Entries = float64(in.NumEntries()); j.Do == "open" {
		return r, nil
	}
	for batch, err := range rntuple.Batches(in, &rntuple.BatchOptions{Fields: fields}) {
		if err != nil {
			return r, err
		}
		for _, name := range j.Fields {
			r.Sum += sumOf(batch.Column(name))
		}
	}
	return r, nil
}

// sumOf returns the sum of the numbers in an Array.
func sumOf(a *columnar.Array) (sum float64) {
	switch values := a.Values().(type) {
	case []float32:
		for _, x := range values {
			sum += float64(x)
		}
	case []int32:
		for _, x := range values {
			sum += float64(x)
		}
	default:
		for _, c := range a.Children {
			sum += sumOf(c)
		}
	}
	return sum
}

func skimRemote(j remoteJob) (r remoteResult, err error) {
	var where []string
	for _, v := range j.Values {
		where = append(where, fmt.Sprintf("%s == %d", j.Field, v))
	}
	e, err := expression.Parse(strings.Join(where, " or "))
	if err != nil {
		return r, err
	}
	report, err := surgery.Skim(context.Background(), j.Out, []surgery.Input{{Path: j.URL}}, e.Condition(), nil)
	if err == nil {
		r.Entries = float64(report.Entries)
	}
	return r, err
}

// A cost is what a job took.
type cost struct {
	requests, bytes int64
	seconds         float64
}

// A remoteTest compares what jobs cost over links of some latency, with a file behind servers of
// two protocols.
type remoteTest struct {
	t     *testing.T
	dir   string
	http  *remotetest.Server
	root  *remotetest.XRootD
	peers []remotePeer // those with the name "ours" are this library
	outs  int          // that were written
}

// bandwidth is that of links, in bytes per second.
const bandwidth = 100e6

// measure does a job over a new link, so that no connection is there and nothing is known of its
// latency.
func (m *remoteTest) measure(p remotePeer, j remoteJob, latency time.Duration) (c cost) {
	m.t.Run(fmt.Sprintf("%s by %s over %s, %s", j.name, p.name, p.scheme, latency), func(t *testing.T) {
		target, path := m.http.Addr, "/j.root"
		if p.scheme == "root" {
			target, path = m.root.Addr, "//j.root"
		}
		link := remotetest.NewLink(t, target, latency/2, bandwidth)
		m.outs++ // a file of its own, which stays: ROOT opens it again when it likes
		j.URL, j.Out = p.scheme+"://"+link.Addr+path, filepath.Join(m.dir, fmt.Sprintf("out%d.root", m.outs))
		before := m.requests(p.scheme)
		got := p.do(j)
		c = cost{m.requests(p.scheme) - before, link.Bytes(), got.Seconds}
		if got.Error == "" && j.Do == "skim" { // what it has written
			got = doRemote(remoteJob{Do: "columns", URL: j.Out, Fields: j.Fields})
		}
		if got.Error != "" || got.Entries != j.want.Entries || math.Abs(got.Sum-j.want.Sum) > 1e-9*j.want.Sum {
			t.Errorf("got %+v, want %+v", got, j.want)
		}
	})
	return c
}

// requests returns how many requests a server has got so far.
func (m *remoteTest) requests(scheme string) (all int64) {
	if scheme == "http" {
		return m.http.Requests.Load()
	}
	for _, n := range m.root.Requests() {
		all += int64(n)
	}
	return all
}

// compare does a job, and checks what it costs: the median of some rounds.
func (m *remoteTest) compare(j remoteJob, latency time.Duration, rounds int) {
	peers := m.peers
	if j.whole() && (rounds == 1 || latency > time.Millisecond) { // minutes for uproot
		peers = slices.DeleteFunc(slices.Clone(peers), func(p remotePeer) bool { return p.name == "uproot" })
	}
	all := make([][]cost, len(peers))
	for range rounds {
		for i, p := range peers {
			all[i] = append(all[i], m.measure(p, j, latency))
		}
	}
	costs := make([]cost, len(peers))
	fastest := math.Inf(1) // seconds of others
	for i, p := range peers {
		costs[i] = cost{
			median(all[i], func(c cost) int64 { return c.requests }), median(all[i], func(c cost) int64 { return c.bytes }),
			median(all[i], func(c cost) float64 { return c.seconds })}
		if p.name != "ours" {
			fastest = min(fastest, costs[i].seconds)
		}
		m.t.Logf("%5s  %-15s  %-6s  %-4s  %4d requests  %8d bytes, %8d of pages  %6.3f s", latency, j.name, p.name, p.scheme,
			costs[i].requests, costs[i].bytes, j.pages, costs[i].seconds)
	}
	for i, p := range peers {
		if p.name != "ours" {
			continue
		}
		c, what := costs[i], fmt.Sprintf("%s over %s, %s", j.name, p.scheme, latency)
		for k, other := range peers {
			if other.scheme == p.scheme && c.requests > costs[k].requests {
				m.t.Errorf("%s: %d requests, %s needs %d", what, c.requests, other.name, costs[k].requests)
			}
		}
		if most := j.pages*11/10 + openingBytes; c.bytes > most {
			m.t.Errorf("%s: %d bytes, want %d at most", what, c.bytes, most)
		}
		if latency >= 20*time.Millisecond && rounds > 1 && c.seconds*j.goal > fastest {
			m.t.Errorf("%s: %.3f s, %.2f times as fast as others, want %.0f", what, c.seconds, fastest/c.seconds, j.goal)
		}
	}
}

// openingBytes is how many bytes opening the file takes at most: 64 KiB of its start, as many of
// its end, and a little of the protocol.
const openingBytes = 136 << 10

// median returns the median of what costs have.
func median[T cmp.Ordered](all []cost, of func(cost) T) T {
	var values []T
	for _, c := range all {
		values = append(values, of(c))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// remoteEntries is the number of entries of the file, which has about 46 MB.
const remoteEntries = 440_000

// chosenBlocks are the values of LuminosityBlock, of 500 entries in each 100,000, that are skimmed:
// an entry in a hundred, in half of the clusters.
var chosenBlocks = []int{77, 78}

// chosenEntries returns the entries with these.
func chosenEntries() (all []rntuple.EntryRange) {
	for run := int64(0); run < remoteEntries; run += 100_000 {
		first := run + int64(chosenBlocks[0]-1)*500
		all = append(all, rntuple.EntryRange{First: first, End: first + 1000})
	}
	return all
}

// remoteJobs returns what is done with the file at path.
func remoteJobs(t *testing.T, path string) []remoteJob {
	one, four := []string{"MET_pt"}, []string{"PV_npvs", "MET_pt", "Muon_pt", "Jet_eta"}
	jobs := []remoteJob{
		{name: "open", Do: "open"},
		{name: "one column", Do: "columns", Fields: one},
		{name: "4 of 60 columns", Do: "columns", Fields: four, goal: 2},
		{name: "all columns", Do: "all", Fields: one},
	}
	r, err := rntuple.Open(path, "Events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pages := &storedPages{t, r, map[string][]int64{}}
	for i := range jobs {
		j := &jobs[i]
		j.URL = path
		if j.want = doRemote(*j); j.want.Error != "" {
			t.Fatal(j.want.Error)
		}
		if j.pages = pages.of(j.Fields, nil); j.Do == "all" {
			j.pages = pages.of(nil, []rntuple.EntryRange{{End: r.NumEntries()}})
		}
	}
	skim := remoteJob{name: "skim", Do: "skim", URL: path, Fields: four, Field: "LuminosityBlock",
		Values: chosenBlocks, goal: 3}
	skim.pages = pages.of([]string{skim.Field}, chosenEntries())
	type entry struct {
		PV_npvs          int32
		MET_pt           float32
		Muon_pt, Jet_eta []float32
	}
	for _, chosen := range chosenEntries() {
		for e, err := range rntuple.EntriesIn[entry](r, chosen, nil) {
			if err != nil {
				t.Fatal(err)
			}
			skim.want.Entries++
			skim.want.Sum += float64(e.PV_npvs) + float64(e.MET_pt)
			for _, x := range slices.Concat(e.Muon_pt, e.Jet_eta) {
				skim.want.Sum += float64(x)
			}
		}
	}
	return append(jobs, skim)
}

// TestRemote compares what it takes to read a file far away with what it takes ROOT and uproot:
// requests and bytes, and in the nightly gate, RNTUPLE_CAMPAIGN=1, the time.
func TestRemote(t *testing.T) {
	asked(t) // alone, since times are measured
	m := &remoteTest{t: t, dir: t.TempDir()}
	byROOT, byUproot := startPeer(t, "root"), startPeer(t, "uproot")
	path := filepath.Join(m.dir, "j.root")
	if r := byROOT(remoteJob{Do: "write", Out: path, Entries: remoteEntries, Cluster: 4 << 20}); r.Error != "" {
		t.Fatal(r.Error)
	}
	m.http = remotetest.Serve(t, m.dir)
	m.root = remotetest.StartXRootD(t, []string{path}, "xrootd.trace all\n")
	m.peers = []remotePeer{
		{"ours", "http", doRemote}, {"uproot", "http", byUproot},
		{"ours", "root", doRemote}, {"uproot", "root", byUproot}, {"ROOT", "root", byROOT},
	}
	jobs := remoteJobs(t, path)
	if os.Getenv("RNTUPLE_CAMPAIGN") == "" {
		for _, j := range jobs {
			latency := 20 * time.Millisecond
			if j.whole() {
				latency = time.Millisecond
			}
			m.compare(j, latency, 1)
		}
		return
	}
	for _, j := range jobs { // so that nobody compiles or imports anything later
		j.Out = filepath.Join(m.dir, "out.root")
		byROOT(j)
		byUproot(j)
		doRemote(j)
	}
	for _, latency := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond} {
		for _, j := range jobs {
			m.compare(j, latency, 3)
		}
	}
}

// storedPages knows where the pages of an RNTuple are.
type storedPages struct {
	t     *testing.T
	r     *rntuple.Reader
	sizes map[string][]int64 // of collections, by entry
}

// of returns the bytes of the pages of some fields, and of the pages of all fields that have values
// of some entries. Pages that fields share count once.
func (p *storedPages) of(fields []string, entries []rntuple.EntryRange) (bytes int64) {
	p.t.Helper()
	clusters, err := p.r.StoredClusters(p.t.Context())
	if err != nil || len(clusters) < 8 {
		p.t.Fatal(len(clusters), err)
	}
	seen := map[uint64]bool{}
	for _, c := range p.r.Schema().Columns {
		name, _, items := strings.Cut(c.Owner.Path(), ".")
		for _, cluster := range clusters {
			// The elements that the cluster has of the column in front of an entry.
			before := func(entry int64) (n int64) {
				entry = min(max(entry, cluster.First), cluster.End)
				if !items {
					return entry - cluster.First
				}
				for _, size := range p.sizesOf(name)[cluster.First:entry] {
					n += size
				}
				return n
			}
			var wanted [][2]int64
			for _, e := range entries {
				if first, end := before(e.First), before(e.End); first < end {
					wanted = append(wanted, [2]int64{first, end})
				}
			}
			next := int64(0)
			for _, page := range cluster.Columns()[c.ID].Pages {
				first, end := next, next+int64(page.NumElements)
				next = end
				some := slices.Contains(fields, name) ||
					slices.ContainsFunc(wanted, func(w [2]int64) bool { return w[0] < end && first < w[1] })
				if some && !seen[page.Locator.Offset] {
					seen[page.Locator.Offset] = true
					bytes += int64(page.StoredSize())
				}
			}
		}
	}
	return bytes
}

// sizesOf returns the sizes of a collection.
func (p *storedPages) sizesOf(name string) []int64 {
	if p.sizes[name] == nil {
		for batch, err := range rntuple.Batches(p.r, &rntuple.BatchOptions{Fields: []string{name}}) {
			if err != nil {
				p.t.Fatal(err)
			}
			offsets := batch.Columns[0].Offsets
			for i := range batch.Len {
				p.sizes[name] = append(p.sizes[name], offsets[i+1]-offsets[i])
			}
		}
	}
	return p.sizes[name]
}
