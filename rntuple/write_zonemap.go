package rntuple

import (
	"slices"

	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/zone"
)

// ZoneMap gives the RNTuple a zone map: the least and the greatest value, and whether there
// are NaNs, of fields in each cluster, with which conditions pass over clusters unread. The
// fields are those that match one of the patterns, or all; see surgery.Keep for patterns and
// surgery.Index for what a zone map has of a field. With Append, only the clusters that are
// added get into the map that the RNTuple has, or a new one. Attribute sets ignore the
// option. It costs about as much as a look at every value. Default: no zone map.
//
// See package zonemap.
func ZoneMap(patterns ...string) WriteOption {
	return func(o *ntuple.WriteOptions) error {
		o.ZoneMap, o.ZoneFields = true, slices.Concat(o.ZoneFields, patterns)
		return nil
	}
}

// recordZones has w write a zone map if the options say so.
func recordZones(w *ntuple.Writer, o *ntuple.WriteOptions) error {
	if !o.ZoneMap {
		return nil
	}
	z := zone.NewRecorder(w, o)
	track := func() error {
		fields, err := zone.Choose(w.Schema, o.ZoneFields, nil)
		for _, f := range fields {
			z.Track(f)
		}
		return err
	}
	if err := track(); err != nil {
		return err
	}
	w.Extended = track
	return nil
}
