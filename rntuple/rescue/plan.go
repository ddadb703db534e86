package rescue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
	"github.com/go-rntuple/go-rntuple/locator"
)

// A job is an RNTuple to save.
type job struct {
	*tuple
	path    string
	cycle   int
	maxKey  uint64
	found   string       // how it was found, in words
	footer  *footer      // nil if lost
	anchor  *foundAnchor // nil if lost
	groups  []group      // by entry
	total   int64        // number of entries; -1 if not known
	notes   []string
	missing []string // see NTuple.Missing
}

// age returns the cycle, or 0 if there is no anchor.
func (j *job) age() int {
	if j.anchor == nil {
		return 0
	}
	return j.cycle
}

// A group is a cluster group with the link to its page list. If the scan has found the page
// list, its checksum has been verified.
type group struct {
	locator.Link
	first, end int64 // entries
	clusters   int
}

// jobs returns the jobs for the RNTuples called name, or for all if it is empty. It leaves
// out attribute sets that belong to an RNTuple, whose job includes them.
func (e *evidence) jobs(name string) (jobs []*job) {
	var all []*job
	for _, t := range e.tuples {
		all = append(all, e.jobsOf(t)...)
	}
	owned := e.attributeSets(all)
	for _, j := range all {
		_, last := split(j.path)
		named := name == "" || name == j.path || name == last || name == fmt.Sprintf("%s;%d", j.path, j.cycle)
		if named && (j.anchor == nil || !owned[int64(j.anchor.SeekHeader)]) {
			jobs = append(jobs, j)
		}
	}
	// RNTuples of the same path are written in the order of their cycles, so that the newest one is
	// the newest again; before them come those without an anchor, which renaming or a crash has
	// left.
	first := map[string]int{}
	for i, j := range slices.Backward(jobs) {
		first[j.path] = i
	}
	slices.SortStableFunc(jobs, func(a, b *job) int {
		return cmp.Or(cmp.Compare(first[a.path], first[b.path]), cmp.Compare(a.age(), b.age()))
	})
	return jobs
}

// attributeSets returns the positions of the headers of the attribute sets that footers
// link.
func (e *evidence) attributeSets(jobs []*job) map[int64]bool {
	owned := map[int64]bool{}
	for _, j := range jobs {
		if j.footer == nil {
			continue
		}
		for _, set := range j.footer.AttributeSets {
			for _, a := range e.anchors {
				if at, _ := (&rootfile.Record{Key: a.key}).Payload(); uint64(at) == set.Anchor.Offset {
					owned[int64(a.SeekHeader)] = true
				}
			}
		}
	}
	return owned
}

// jobsOf returns the jobs for the RNTuples with the header of t: one, or several if the file
// has several copies of the header.
func (e *evidence) jobsOf(t *tuple) (jobs []*job) {
	slices.SortStableFunc(t.lists, func(a, b group) int { return cmp.Compare(a.first, b.first) })
	if len(t.homes) == 1 {
		return []*job{e.onlyJob(t)}
	}
	// Headers are equal: page lists do not say which RNTuple they belong to, but footers
	// and anchors do.
	used := map[*footer]bool{}
	for _, a := range t.anchors {
		i := slices.IndexFunc(t.footers, func(f *footer) bool { return f.at == int64(a.SeekFooter) })
		if i < 0 {
			e.lost("RNTuple %q, whose anchor is at %#x: its footer is lost, and page lists do not say which of several RNTuples with the same header they belong to", a.path, a.key.SeekKey)
			continue
		}
		if f := t.footers[i]; !used[f] {
			used[f] = true
			jobs = append(jobs, e.newJob(t, f, a))
		}
	}
	for _, f := range t.footers {
		if !used[f] && !slices.ContainsFunc(t.footers, func(g *footer) bool { return g.continues(f) }) {
			jobs = append(jobs, e.newJob(t, f, nil))
		}
	}
	if n := len(t.orphans()); n > 0 {
		e.lost("%d page lists of RNTuples %q that no footer has: several RNTuples have the same header", n, t.header.Name)
	}
	return jobs
}

// continues reports whether f was written after g for the same RNTuple.
func (f *footer) continues(g *footer) bool {
	n := len(g.ClusterGroups)
	if f == g || len(f.ClusterGroups) < n || len(f.ClusterGroups) == n && f.at < g.at {
		return false
	}
	return slices.EqualFunc(f.ClusterGroups[:n], g.ClusterGroups,
		func(a, b envelope.ClusterGroup) bool { return a.PageList == b.PageList })
}

// orphans returns the page lists that no footer has.
func (t *tuple) orphans() []group {
	known := map[uint64]bool{}
	for _, f := range t.footers {
		for _, g := range f.ClusterGroups {
			known[g.PageList.Locator.Offset] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(t.lists), func(l group) bool { return known[l.Locator.Offset] })
}

// onlyJob returns the job for an RNTuple whose header exists once.
func (e *evidence) onlyJob(t *tuple) *job {
	var best *footer
	for _, f := range t.footers {
		if best == nil || f.entries > best.entries || f.entries == best.entries && f.at > best.at {
			best = f
		}
	}
	var a *foundAnchor
	for _, other := range t.anchors {
		fits := best != nil && int64(other.SeekFooter) == best.at
		if a == nil || fits && !a.listed || other.listed && !a.listed {
			a = other
		}
	}
	j := e.newJob(t, best, a)
	j.adopt()
	return j
}

// newJob returns the job for an RNTuple with the cluster groups of a footer. Footer and
// anchor may be nil.
func (e *evidence) newJob(t *tuple, f *footer, a *foundAnchor) *job {
	j := &job{tuple: t, path: t.header.Name, cycle: 1, maxKey: defaultMaxKey, footer: f, anchor: a, total: -1}
	if a != nil {
		j.path, j.cycle, j.maxKey = a.path, a.key.CycleNumber(), a.MaxKeySize
		if dir, name := split(a.path); !a.sure && name != t.header.Name {
			j.path = strings.TrimPrefix(dir+"/"+t.header.Name, "/") // this name has a checksum
		}
	}
	switch {
	case f == nil:
		j.found = "page lists that the scan found"
	case a == nil:
		j.found = fmt.Sprintf("the footer at %#x that the scan found", f.at)
	case int64(a.SeekFooter) != f.at:
		j.found = fmt.Sprintf("the footer at %#x that the scan found, newer than that of the anchor", f.at)
	case a.listed:
		j.found = "its directory"
	default:
		j.found = fmt.Sprintf("the anchor at %#x that the scan found", a.key.SeekKey)
	}
	if t.isAttributeSet() {
		j.note("it is an attribute set; the RNTuple that it belonged to is not known")
	}
	if f == nil {
		j.miss("the footer, and with it any attribute sets, and fields that were added while the RNTuple was written")
		return j
	}
	j.total = f.entries
	for _, g := range f.ClusterGroups {
		j.groups = append(j.groups, group{g.PageList, int64(g.MinEntry), int64(g.MinEntry + g.EntrySpan), int(g.NumClusters)})
	}
	slices.SortStableFunc(j.groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.end, b.end))
	})
	return j
}

func (j *job) note(format string, args ...any) {
	j.notes = append(j.notes, fmt.Sprintf(format, args...))
}

func (j *job) miss(format string, args ...any) {
	j.missing = append(j.missing, fmt.Sprintf(format, args...))
}

// adopt adds the page lists that no footer has, if they certainly continue the RNTuple.
func (j *job) adopt() {
	orphans := j.orphans()
	end, after := int64(0), j.homes[0]
	if j.footer != nil {
		end, after = j.footer.entries, j.footer.at
	}
	for i, l := range orphans {
		twice := i > 0 && l.first < orphans[i-1].end
		if twice || l.first < end || int64(l.Locator.Offset) < after {
			j.miss("%d page lists that no footer has, which are not used: they contradict each other or the footer, so they may belong to another RNTuple with the same header", len(orphans))
			return
		}
	}
	if len(orphans) > 0 {
		j.groups, j.total = append(j.groups, orphans...), -1
	}
	if j.footer != nil && len(orphans) > 0 {
		j.miss("fields and attributes that were added after the last intact footer, which %d page lists came after",
			len(orphans))
	}
}

// isAttributeSet reports whether the header is that of an attribute set.
// Specification: "Linked attribute sets" (format 1.0.1.0).
func (t *tuple) isAttributeSet() bool {
	var names []string
	for i, f := range t.header.Fields {
		if int(f.Parent) == i {
			names = append(names, f.Name)
		}
	}
	return slices.Equal(names, []string{"_rangeStart", "_rangeLen", "_userData"})
}

func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return strings.Trim(path[:i+1], "/"), path[i+1:]
}

// extension returns the schema extension of the footer, or nil.
func (j *job) extension() *envelope.Schema {
	if j.footer == nil {
		return nil
	}
	return j.footer.Extension
}
