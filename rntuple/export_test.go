package rntuple

import "github.com/go-rntuple/go-rntuple/internal/pagesource"

// Source returns the source that plans are compiled for.
func (r *Reader) Source() *pagesource.Source { return r.ntuple.Source }
