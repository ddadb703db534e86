package show

import (
	"slices"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/zonemap"
	"github.com/go-rntuple/go-rntuple/schema"
)

// statJSON is what `rnt stat --json` prints. All sizes are in bytes.
type statJSON struct {
	Name          string       `json:"name"`
	Entries       int64        `json:"entries"`
	Clusters      int          `json:"clusters"`
	ClusterGroups int          `json:"cluster_groups"`
	Compression   []string     `json:"compression"`
	Settings      []uint32     `json:"compression_settings"`
	Header        statEnvelope `json:"header"`
	Footer        statEnvelope `json:"footer"`
	PageLists     statEnvelope `json:"page_lists"`
	Disk          int64        `json:"disk_bytes"` // pages, each once, their checksums and envelopes
	Pages         statStorage  `json:"total"`      // of all columns
	Fields        []statField  `json:"fields"`     // all, each before those below it
	Columns       []statColumn `json:"columns"`    // by ID
	Zones         []statZones  `json:"zone_map"`   // fields that it has bounds of
	Misfits       []string     `json:"zone_map_problems,omitempty"`
}

type statZones struct {
	Field    string `json:"field"` // path
	Clusters int    `json:"clusters"`
}

type statEnvelope struct {
	Disk   uint64 `json:"disk_bytes"`
	Length uint64 `json:"uncompressed_bytes"`
}

type statStorage struct {
	Pages      int64 `json:"pages"`
	Shared     int64 `json:"shared_pages"` // among them, those whose bytes another page has, too
	Checksums  int64 `json:"page_checksums"`
	Elements   int64 `json:"elements"`
	Disk       int64 `json:"disk_bytes"`         // without checksums, shared pages included
	SharedDisk int64 `json:"shared_bytes"`       // of shared pages
	Packed     int64 `json:"uncompressed_bytes"` // pages before compression
	Memory     int64 `json:"memory_bytes"`       // elements in memory, as ROOT counts them
	// Ratio is Memory divided by Disk, absent if nothing is on disk.
	Ratio float64 `json:"ratio,omitempty"`
}

// statField is a field with all below it.
type statField struct {
	ID     schema.FieldID `json:"id"`
	Path   string         `json:"path"`
	Type   string         `json:"type"`
	Source string         `json:"source,omitempty"` // if projected: it has no columns of its own
	Hidden string         `json:"hidden,omitempty"` // why it cannot be read
	statStorage
}

type statColumn struct {
	ID             schema.ColumnID `json:"id"`
	Field          string          `json:"field"` // path
	Representation uint16          `json:"representation"`
	Index          int             `json:"index"` // in the representation
	Encoding       string          `json:"encoding"`
	Bits           uint16          `json:"bits"` // on storage, per element
	Compression    []string        `json:"compression"`
	Settings       []uint32        `json:"compression_settings"`
	statStorage
}

// statOf returns the sizes of an RNTuple, and of some fields with all below them.
func statOf(r *rntuple.Reader, i *rntuple.Inspection, m *zonemap.Map, fields []*schema.Field) statJSON {
	s := statJSON{
		Name: r.Name(), Entries: i.Entries, Clusters: i.Clusters, ClusterGroups: i.ClusterGroups,
		Header: statEnvelope(i.Header), Footer: statEnvelope(i.Footer), PageLists: statEnvelope(i.PageLists),
		Disk: i.Disk(), Pages: storageOf(i.Total),
		Fields: []statField{}, Columns: []statColumn{}, Zones: []statZones{}, Misfits: m.Problems,
	}
	paths, clusters := m.Fields()
	for k, path := range paths {
		s.Zones = append(s.Zones, statZones{path, clusters[k]})
	}
	s.Compression, s.Settings = settings(i.Compression())
	hidden := map[*schema.Field]string{}
	for _, h := range r.Schema().Hidden {
		hidden[h.Field] = h.Err.Error()
	}
	var add func(f *schema.Field)
	add = func(f *schema.Field) {
		field := statField{ID: f.ID, Path: f.Path(), Type: f.CppType(), Hidden: hidden[f], statStorage: storageOf(i.Field(f))}
		if f.Source != nil {
			field.Source = f.Source.Path()
		}
		s.Fields = append(s.Fields, field)
		for _, child := range f.Children {
			add(child)
		}
	}
	for _, f := range fields {
		add(f)
	}
	for _, c := range i.Columns {
		if !below(fields, c.Column.Owner) {
			continue
		}
		column := statColumn{
			ID: c.Column.ID, Field: c.Column.Owner.Path(), Representation: c.Column.Representation, Index: c.Column.Index,
			Encoding: c.Column.Format().String(), Bits: c.Column.Bits, statStorage: storageOf(c.Storage),
		}
		column.Compression, column.Settings = settings(c.Compression)
		s.Columns = append(s.Columns, column)
	}
	return s
}

func storageOf(s rntuple.Storage) statStorage {
	t := statStorage{
		Pages: s.Pages, Shared: s.Shared, Checksums: s.Checksums, Elements: s.Elements,
		Disk: s.Disk, SharedDisk: s.SharedDisk, Packed: s.Packed, Memory: s.Memory,
	}
	if s.Disk > 0 {
		t.Ratio = float64(s.Memory) / float64(s.Disk)
	}
	return t
}

// below reports whether f is one of the given fields or below one of them.
func below(fields []*schema.Field, f *schema.Field) bool {
	for ; f != nil; f = f.Parent {
		if slices.Contains(fields, f) {
			return true
		}
	}
	return false
}
