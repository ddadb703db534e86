package rntuple

import (
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/zone"
)

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
