package rntuple

import (
	"fmt"
	"slices"

	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pages"
	"github.com/go-rntuple/go-rntuple/internal/raw"
)

func init() {
	raw.Rename = func(f, r any, h *envelope.Header, ext *envelope.Schema, opts any) error {
		config, err := newWriteConfig(opts.([]WriteOption))
		if err != nil {
			return err
		}
		return renameRaw(f.(*File), r.(*Reader), h, ext, config)
	}
}

// renameRaw writes the metadata of the RNTuple that r reads anew, with the names
// that h and ext have. Pages stay where they are.
func renameRaw(f *File, r *Reader, h *envelope.Header, ext *envelope.Schema, config *writeConfig) error {
	config.pages.MaxKeySize = r.anchor.MaxKeySize // there is one for all pages
	w := &ntuple{file: f, name: h.Name, header: *h, extension: *ext, features: r.footer.Features}
	w.linked = slices.Clone(r.footer.AttributeSets)
	if err := w.writeHeader(config); err != nil {
		return err
	}
	groups := slices.Clone(r.footer.ClusterGroups)
	for i := range groups {
		if err := w.adopt(r, &groups[i]); err != nil {
			return fmt.Errorf("cluster group %d: %w", i, err)
		}
	}
	w.sink.Resume(r.NumEntries(), groups, nil)
	object, err := w.anchorObject()
	if err != nil {
		return err
	}
	_, err = f.out.Rename(r.path, object, anchor.ClassName)
	return err
}

// adopt makes the page list of a cluster group of r one of w.
func (w *ntuple) adopt(r *Reader, g *envelope.ClusterGroup) error {
	b, err := r.src.Envelope("page list", g.PageList)
	if err != nil {
		return err
	}
	list, err := envelope.ParsePageList(b)
	if err != nil {
		return err
	}
	list.HeaderChecksum = w.sink.HeaderChecksum()
	if b, err = list.Append(nil); err != nil {
		return err
	}
	g.PageList, err = pages.WriteEnvelope(w.file.pages, b, w.sink.Settings())
	return err
}
