package rntuple

import (
	"github.com/go-rntuple/go-rntuple/internal/ntuple"
	"github.com/go-rntuple/go-rntuple/internal/pagesource"
)

// Source returns the source that plans are compiled for.
func (r *Reader) Source() *pagesource.Source { return r.ntuple.Source }

// Unwrapped returns the RNTuple that the Reader reads.
func (r *Reader) Unwrapped() *ntuple.Reader { return r.ntuple }
