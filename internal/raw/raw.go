// Package raw lets package surgery at what package rntuple keeps for itself: the
// descriptors of an RNTuple, and where its pages come from and go.
//
// Package rntuple, which imports it, sets the functions.
package raw

import (
	"github.com/go-rntuple/go-rntuple/anchor"
	"github.com/go-rntuple/go-rntuple/envelope"
	"github.com/go-rntuple/go-rntuple/internal/pages"
	"github.com/go-rntuple/go-rntuple/internal/rootfile"
)

// An Input is what a *rntuple.Reader has.
type Input struct {
	Anchor *anchor.Anchor
	Header *envelope.Header
	Footer *envelope.Footer
	Source *pages.Source
	Legacy bool // its format came before 1.0.0.0
}

// An Output is an RNTuple that is written from descriptors.
type Output struct {
	Sink *pages.Sink
	// Header cannot be changed any more; the footer gets Extension and Features.
	Header    *envelope.Header
	Extension *envelope.Schema
	Features  *envelope.Features

	Resumed bool // there was an RNTuple to go on with

	// AddSet begins an attribute set; its Close does nothing.
	AddSet func(h *envelope.Header) (*Output, error)
	// Close writes what is left. The file has to be closed after it.
	Close func() error
}

var (
	// InputOf returns what a *rntuple.Reader has.
	InputOf func(reader any) *Input
	// OpenSet opens an attribute set of a *rntuple.Reader and returns another
	// one, which is closed with the first.
	OpenSet func(reader any, name string) (any, error)
	// Begin begins an RNTuple in a *rntuple.File. The options are a
	// []rntuple.WriteOption; dir is a directory of the file.
	Begin func(file any, dir string, h *envelope.Header, ext *envelope.Schema, opts any) (*Output, error)
	// Update is rntuple.UpdateFile for what is no file on disk.
	Update func(rw rootfile.ReadWriterAt, size int64, opts any) (file any, err error)
	// Resume goes on with the newest RNTuple that a *rntuple.Reader reads, in
	// the *rntuple.File of the same path. What the RNTuple has stays in place.
	Resume func(file, reader any, dir string, opts any) (*Output, error)
	// Rename gives the RNTuple that a *rntuple.Reader reads, in the *rntuple.File
	// of the same path, a header and an extension that differ in names only.
	Rename func(file, reader any, h *envelope.Header, ext *envelope.Schema, opts any) error
)
