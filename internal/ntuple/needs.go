package ntuple

import (
	"github.com/go-rntuple/go-rntuple/schema"
)

// Needs returns what readers need of PageBytes and EnvelopeBytes. The largest page is not
// known exactly.
func (w *Writer) Needs() (need Limits) {
	elements := int64(0)
	for id := range w.Schema.Columns {
		elements = max(elements, w.Sink.Elements(w.Sink.Column(schema.ColumnID(id))))
	}
	const elementBytes = 16 // of the largest
	need.PageBytes = min(w.Sink.Settings().MaxPage, elements*elementBytes)
	lists := uint64(0)
	for _, g := range w.Sink.Groups() {
		lists += g.PageList.Length
	}
	need.EnvelopeBytes = int64(max(w.header.Length, w.link.Length, lists))
	for _, set := range w.sets {
		of := set.Needs()
		need.PageBytes, need.EnvelopeBytes = max(need.PageBytes, of.PageBytes), max(need.EnvelopeBytes, of.EnvelopeBytes)
	}
	return need
}
