package verify

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/column"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/frame"
	"github.com/go-rntuple/go-rntuple/internal/legacy"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
	"github.com/go-rntuple/go-rntuple/locator"
	"github.com/go-rntuple/go-rntuple/schema"
)

// An ntuple is an RNTuple with its metadata.
type ntuple struct {
	*verifier
	id       int32 // index in the owners of extents
	path     string
	blobs    pagesource.Blobs
	anchor   *anchor.Anchor
	header   *envelope.Header // nil if it cannot be read
	footer   *envelope.Footer // nil if it cannot be read
	checksum uint64           // of the header
	pageList func(group int, b []byte) (*envelope.PageList, error)

	schema   *schema.Schema // nil if it cannot be built
	columns  []columnInfo   // by ID
	clusters []*cluster     // by first entry
	entries  int64
}

// A cluster is a cluster of a page list.
type cluster struct {
	*pagesource.Cluster
	columns []envelope.ColumnPages
	results [][]*result // by column and page
	seen    bool        // its page list also belongs to another RNTuple, which has been checked
}

// A listKey identifies a page list. Cycles of an RNTuple may share page lists.
type listKey struct {
	link   locator.Link
	header uint64 // checksum
}

// problem reports a problem of the RNTuple. An offset of -1 is unknown.
func (n *ntuple) problem(check Check, part string, offset int64, err error) {
	n.report(Problem{RNTuple: n.path, Part: part, Offset: offset, Check: check, Err: err}.nowhere())
}

// load checks the RNTuple with an anchor, and its attribute sets. If it is an attribute set
// itself, link is the link to it.
func (v *verifier) load(a anchorObject, link *setLink) {
	if v.stopped() != nil {
		return
	}
	n := &ntuple{verifier: v, id: int32(len(v.owners)), path: a.path}
	v.owners = append(v.owners, owner{path: a.path})
	v.summary.RNTuples++
	old := a.class == anchor.ExperimentalClassName
	parse := anchor.Parse
	if old {
		parse = legacy.ParseAnchor
	}
	var err error
	n.anchor, err = parse(a.object)
	if err == nil && !old {
		err = n.anchor.Supported()
	}
	if err == nil && !old && (n.anchor.ClassVersion == anchor.ClassVersion) != (len(n.anchor.Extra) == 0) {
		n.problem(Anchor, "", a.offset, frame.Corrupt("class version %d with %d bytes after those of version %d",
			n.anchor.ClassVersion, len(n.anchor.Extra), anchor.ClassVersion))
	}
	if err != nil {
		n.problem(Anchor, "", a.offset, err)
		return
	}
	n.blobs = pagesource.Blobs{R: v.r, Size: v.size, MaxKeySize: n.anchor.MaxKeySize, MaxPage: v.Limits.PageBytes,
		MaxEnvelope: v.Limits.EnvelopeBytes}
	if !n.metadata(old) {
		return
	}
	n.describe()
	n.groups()
	n.checkPages()
	if link != nil {
		n.checkSet(link)
		return
	}
	if !n.objects {
		n.attributeSets()
		n.zones(a)
	} else if len(n.footer.AttributeSets) > 0 {
		n.skip("RNTuple %q: attribute sets, because no version of ROOT reads those in objects", n.path)
	}
}

// metadata reads header and footer, and reports whether the check can continue.
func (n *ntuple) metadata(old bool) bool {
	a := n.anchor
	header, footer := n.envelope("header", a.Header()), n.envelope("footer", a.Footer())
	sound := func(part string, seek uint64, err error) bool {
		if err != nil {
			n.problem(Envelope, part, int64(seek), err)
		}
		return err == nil
	}
	if old {
		if header == nil || footer == nil {
			return false
		}
		m, err := legacy.Parse(a, header, footer)
		if err != nil {
			n.problem(Envelope, "metadata", -1, err)
			return false
		}
		n.header, n.footer, n.checksum, n.pageList = m.Header, m.Footer, m.HeaderChecksum, m.PageList
	} else {
		n.pageList = func(_ int, b []byte) (*envelope.PageList, error) { return envelope.ParsePageList(b) }
		if header != nil {
			h, err := envelope.ParseHeader(header)
			if sound("header", a.SeekHeader, err) {
				n.header, n.checksum = h, envelope.Checksum(header)
			}
		}
		if footer != nil {
			f, err := envelope.ParseFooter(footer)
			if sound("footer", a.SeekFooter, err) {
				n.footer = f
			}
		}
	}
	if n.header != nil {
		sound("header", a.SeekHeader, n.header.Features.Supported())
	}
	if n.footer == nil {
		return false
	}
	sound("footer", a.SeekFooter, n.footer.Features.Supported())
	if n.objects {
		if err := pagesource.PlaceLists(n.footer); err != nil {
			n.problem(Locators, "footer", int64(a.SeekFooter), err)
			return false
		}
	}
	if n.header != nil && n.footer.HeaderChecksum != n.checksum {
		n.problem(Envelope, "footer", int64(a.SeekFooter),
			fmt.Errorf("belongs to another header: %w", frame.BadChecksum(n.footer.HeaderChecksum, n.checksum)))
	}
	return true
}

// envelope reads an envelope. It returns nil if that fails.
func (n *ntuple) envelope(part string, l locator.Link) []byte {
	b, err := n.blobs.Envelope(n.ctx, part, l)
	if err != nil {
		check := Envelope
		if l.Locator.InFile() != nil || errors.Is(err, frame.ErrCorrupt) && l.Locator.Size > uint64(n.size) ||
			l.Locator.Offset > uint64(n.size) {
			check = Locators
		}
		n.problem(check, part, int64(l.Locator.Offset), cause(err, int64(l.Locator.Offset)))
	}
	if err != nil && !errors.As(err, new(*frame.FormatError)) {
		return nil
	}
	if n.located(l.Locator) {
		n.summary.Envelopes++
		n.summary.Bytes += int64(l.Locator.Size)
		o := &n.owners[n.id]
		n.place(l.Locator, extent{owner: n.id, cluster: envelopes, column: int32(len(o.envelopes))})
		o.envelopes = append(o.envelopes, part)
	}
	if err != nil {
		return nil
	}
	return b
}

// located reports whether a block lies in the file.
func (v *verifier) located(l locator.Locator) bool {
	size := uint64(v.size)
	return l.InFile() == nil && l.Offset <= size && l.Size <= size-l.Offset
}

// columnInfo is what checking the pages of a column takes.
type columnInfo struct {
	format column.Format
	owner  *schema.Field // nil if there is no schema
	checks checks
}

// describe builds the schema and checks it.
func (n *ntuple) describe() {
	if n.header == nil {
		n.skip("RNTuple %q: pages and elements, as the header cannot be read", n.path)
		return
	}
	ext := cmp.Or(n.footer.Extension, new(envelope.Schema))
	for _, c := range slices.Concat(n.header.Columns, ext.Columns) {
		n.columns = append(n.columns, columnInfo{format: column.Format{Type: c.Type, Bits: c.Bits, Min: c.Min, Max: c.Max,
			PreRelease: c.PreRelease}})
	}
	s, err := schema.Build(n.header, n.footer.Extension)
	if err != nil {
		n.problem(Schema, "schema", int64(n.anchor.SeekHeader), err)
		n.skip("RNTuple %q: numbers of elements and values, as the fields contradict each other", n.path)
		return
	}
	n.schema = s
	fields := func(f *schema.Field, err error) {
		p := Problem{RNTuple: n.path, Offset: int64(n.anchor.SeekHeader), Check: Schema, Err: err}.nowhere()
		if f != nil {
			p.Field = f.Path()
			if f.Extended {
				p.Offset = int64(n.anchor.SeekFooter)
			}
		}
		n.report(p)
	}
	for _, h := range s.Hidden {
		fields(h.Field, h.Err)
	}
	for _, v := range s.Violations() {
		fields(v.Field, v.Err)
	}
	for _, e := range s.ExtraTypes {
		if e.ContentID != envelope.StreamerInfo {
			n.skip("RNTuple %q: information on the type %q with the unknown content %d", n.path, e.TypeName, e.ContentID)
		}
	}
	for i, c := range s.Columns {
		n.columns[i].owner = c.Owner
	}
	for _, f := range s.Fields {
		n.choose(f)
	}
}

// groups reads the page lists, and checks them and the cluster groups.
func (n *ntuple) groups() {
	s := n.schema
	if s == nil {
		s = &schema.Schema{Columns: make([]*schema.Column, len(n.columns))}
	}
	seekFooter := int64(n.anchor.SeekFooter)
	if _, err := pagesource.NewSource(n.blobs, s, n.checksum, n.footer); err != nil {
		n.problem(Clusters, "footer", seekFooter, bare(err))
		if errors.Is(err, frame.ErrUnsupported) {
			return // more than a reader accepts
		}
	}
	firstID := 0
	for i, g := range n.footer.ClusterGroups {
		if n.stopped() != nil {
			return
		}
		n.entries += int64(min(g.EntrySpan, uint64(math.MaxInt64-n.entries)))
		n.group(s, i, firstID, g)
		firstID += int(g.NumClusters)
	}
	slices.SortStableFunc(n.clusters, func(a, b *cluster) int { return pagesource.ByEntry(a.Cluster, b.Cluster) })
}

// group reads and checks the page list of cluster group i, whose clusters are numbered from
// firstID on.
func (n *ntuple) group(s *schema.Schema, i, firstID int, g envelope.ClusterGroup) {
	part := fmt.Sprintf("page list of cluster group %d", i)
	at := int64(g.PageList.Locator.Offset)
	key := listKey{g.PageList, n.checksum}
	seen := n.lists[key]
	n.lists[key] = true
	b := n.envelope(part, g.PageList)
	if b == nil {
		return
	}
	list, err := n.pageList(i, b)
	if err != nil {
		n.problem(Envelope, part, at, err)
		return
	}
	if n.objects {
		if err := pagesource.PlacePages(list); err != nil {
			n.problem(Locators, part, at, err)
			return
		}
	}
	if n.header == nil {
		return
	}
	if err := pagesource.CheckPageList(s, n.checksum, g, firstID, list); err != nil {
		n.problem(Clusters, part, at, err)
	}
	for j, c := range list.Clusters[:min(len(list.Clusters), len(list.Pages))] {
		if c.FirstEntry > math.MaxInt64-c.NumEntries {
			continue // reported above
		}
		columns := list.Pages[j].Columns
		columns = columns[:min(len(columns), len(n.columns))]
		n.clusters = append(n.clusters, &cluster{Cluster: pagesource.NewCluster(firstID+j, c, columns),
			columns: columns, seen: seen})
		n.summary.Clusters++
	}
}

// field returns the path of the field that a column belongs to, or "" if it is not known.
func (n *ntuple) field(column int) string {
	if column < 0 || column >= len(n.columns) || n.columns[column].owner == nil {
		return ""
	}
	return n.columns[column].owner.Path()
}
