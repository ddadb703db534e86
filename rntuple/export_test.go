package rntuple

import "github.com/go-rntuple/go-rntuple/internal/pages"

// Source gives tests what plans are compiled for.
func (r *Reader) Source() *pages.Source { return r.ntuple.Source }
