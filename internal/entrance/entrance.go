package entrance

import "github.com/go-rntuple/go-rntuple/internal/ntuple"

// Reader returns the *rntuple.Reader of an RNTuple that is open. Package rntuple, which this one cannot import, sets it.
var Reader func(*ntuple.Reader) any
