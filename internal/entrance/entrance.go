package entrance

import "github.com/go-rntuple/go-rntuple/internal/ntuple"

// Reader returns the *rntuple.Reader of an RNTuple that is open. Package rntuple, which this one
// cannot import, sets it.
var Reader func(*ntuple.Reader) any

// ReadOptions and WriteOptions return what a *rntuple.ReadOptions or a *rntuple.WriteOptions stands
// for, or an error if the options contradict each other. Package rntuple sets them.
var (
	ReadOptions  func(any) (*ntuple.ReadOptions, error)
	WriteOptions func(any) (*ntuple.WriteOptions, error)
)
