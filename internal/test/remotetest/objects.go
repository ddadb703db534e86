package remotetest

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/compress"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/checksum"
	"github.com/go-rntuple/go-rntuple/internal/location"
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/locator"
)

// Objects are those of an RNTuple in ROOT's S3 layout, as ROOT's RPageSinkS3 makes it (pull
// requests 22653 and 22819). ROOT 6.40 does not have that class, so that it cannot make them
// itself.
type Objects struct {
	Anchor map[string]any // without its checksum
	All    [][]byte       // by number

	// Locate, if not nil, changes locators before they are written.
	Locate func(locator.Locator) locator.Locator
}

// TakeApart returns the objects of an RNTuple in a file. Its pages and its header keep their bytes.
func TakeApart(t testing.TB, path, name string) *Objects {
	t.Helper()
	o := &Objects{}
	o.TakeApart(t, path, name)
	return o
}

// TakeApart makes o the objects of an RNTuple in a file.
func (o *Objects) TakeApart(t testing.TB, path, name string) {
	t.Helper()
	r, err := ntuple.Open(location.Parse(path), name, ntuple.NewReadOptions())
	if err != nil {
		t.Fatal(path, err)
	}
	defer r.Close()
	o.All = nil
	p := parts{t, r, o, map[locator.Locator]uint64{}}
	a, n := p.n.Anchor, p.n
	header := p.stored(a.Header().Locator, a.NBytesHeader)
	id := o.add(header)
	footer := *n.Footer
	footer.ClusterGroups = append([]envelope.ClusterGroup{}, footer.ClusterGroups...)
	for i := range footer.ClusterGroups {
		footer.ClusterGroups[i].PageList = p.pageList(footer.ClusterGroups[i].PageList)
	}
	footer.AttributeSets = append([]envelope.AttributeSet{}, footer.AttributeSets...)
	for i := range footer.AttributeSets { // ROOT has no link
		footer.AttributeSets[i].Anchor, footer.AttributeSets[i].AnchorLength = locator.Locator{}, 0
	}
	plain, err := footer.Append(nil)
	if err != nil {
		t.Fatal(path, err)
	}
	stored := p.zip(plain)
	o.Anchor = map[string]any{
		"anchorVersion":      0,
		"formatVersionEpoch": a.Epoch, "formatVersionMajor": a.Major, "formatVersionMinor": a.Minor,
		"formatVersionPatch": a.Patch,
		"urlTemplate":        "${baseurl}/${objid}", "cloneTemplate": "${baseurl}/_clone/${name}",
		"headerObjId": id, "headerOffset": 0, "nBytesHeader": len(header), "lenHeader": a.LenHeader,
		"footerObjId": o.add(stored), "footerOffset": 0, "nBytesFooter": len(stored), "lenFooter": len(plain),
	}
}

// JSON returns the anchor with its checksum, which is that of the JSON in one line with members in
// order.
func (o *Objects) JSON(t testing.TB) []byte {
	t.Helper()
	all := map[string]any{}
	for name, value := range o.Anchor {
		all[name] = value
	}
	canonical, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	all["checksum"] = checksum.Sum(canonical)
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Put passes the anchor and all objects to put, with their names below base.
func (o *Objects) Put(t testing.TB, base string, put func(name string, b []byte)) {
	t.Helper()
	for id, b := range o.All {
		put(base+"/"+strconv.Itoa(id), b)
	}
	put(base, o.JSON(t))
}

// add adds an object and returns its number.
func (o *Objects) add(b []byte) uint64 {
	o.All = append(o.All, b)
	return uint64(len(o.All) - 1)
}

// parts are those of an RNTuple that is taken apart.
type parts struct {
	t     testing.TB
	n     *ntuple.Reader
	o     *Objects
	pages map[locator.Locator]uint64 // that have been added: equal pages share an object
}

// stored returns n bytes of the file from the place of l on, which may be in several chunks.
func (p *parts) stored(l locator.Locator, n uint64) []byte {
	p.t.Helper()
	b := make([]byte, n)
	if err := anchor.ReadBlob(p.n.Source.R, b, int64(l.Offset), p.n.Anchor.MaxKeySize); err != nil {
		p.t.Fatal(err)
	}
	return b
}

// zip compresses an envelope as ROOT does by default.
func (p *parts) zip(plain []byte) []byte {
	p.t.Helper()
	b, err := compress.Append(nil, plain, compress.Default)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// object64 returns the locator of an object: a 32-bit size and the number of the object.
func (p *parts) object64(id, size uint64) locator.Locator {
	payload := binary.LittleEndian.AppendUint32(nil, uint32(size))
	l := locator.Locator{Type: 0x02, Payload: string(binary.LittleEndian.AppendUint64(payload, id))}
	if p.o.Locate != nil {
		l = p.o.Locate(l)
	}
	return l
}

// pageList adds the pages and the page list of a cluster group, and returns the link to that.
func (p *parts) pageList(link locator.Link) locator.Link {
	p.t.Helper()
	old, err := p.n.Source.Envelope(p.t.Context(), "page list", link)
	if err != nil {
		p.t.Fatal(err)
	}
	list, err := envelope.ParsePageList(old)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, cluster := range list.Pages {
		for _, column := range cluster.Columns {
			for i := range column.Pages {
				page := &column.Pages[i]
				id, known := p.pages[page.Locator]
				if !known {
					id = p.o.add(p.stored(page.Locator, page.StoredSize()))
					p.pages[page.Locator] = id
				}
				page.Locator = p.object64(id, page.Locator.Size)
			}
		}
	}
	plain, err := list.Append(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	stored := p.zip(plain)
	return locator.Link{Length: uint64(len(plain)), Locator: p.object64(p.o.add(stored), uint64(len(stored)))}
}
