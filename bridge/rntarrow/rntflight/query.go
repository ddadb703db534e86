package rntflight

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A Query says which entries of which RNTuple are asked for. Tickets are Queries as JSON, as are
// the commands of descriptors.
type Query struct {
	// File is the path of the file below the folder, with slashes.
	File string `json:"file"`
	// Ntuple is the name of the RNTuple, as for rntuple.Open.
	Ntuple string `json:"ntuple,omitempty"`
	// Fields are paths of fields, and patterns of path.Match with dots instead of slashes:
	// "Muon_*". Empty: all top-level fields.
	Fields []string `json:"fields,omitempty"`
	// Where is a condition in the language of package expression, which the entries must meet.
	Where string `json:"where,omitempty"`
	// First and End are the range of entries, without End; those that do not meet the condition
	// count, too. Nil: from the first entry on, up to the last one.
	First *int64 `json:"first,omitempty"`
	End   *int64 `json:"end,omitempty"`
	// Lists32, Binary and Structs are as in rntarrow.Options.
	Lists32 bool `json:"lists32,omitempty"`
	Binary  bool `json:"binary,omitempty"`
	Structs bool `json:"structs,omitempty"`
	// Version says which version of the file is meant, if it is not empty: GetFlightInfo sets
	// it in the tickets that it makes.
	Version string `json:"version,omitempty"`
}

// Ticket returns the ticket for a query.
func (q *Query) Ticket() *flight.Ticket { return &flight.Ticket{Ticket: q.json()} }

// Descriptor returns the descriptor for a query.
func (q *Query) Descriptor() *flight.FlightDescriptor {
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: q.json()}
}

func (q *Query) json() []byte {
	b, err := json.Marshal(q)
	if err != nil {
		panic(err) // there is nothing in it that can fail
	}
	return b
}

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

// parseQuery parses a ticket or a command; what is which of them.
func parseQuery(what string, text []byte) (*Query, error) {
	if len(text) > maxRequest {
		return nil, invalid("the %s has %d bytes, more than %d", what, len(text), maxRequest)
	}
	q := new(Query)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(q)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows the object")
		}
	}
	if err != nil {
		return nil, invalid(`the %s is not JSON like {"file": "a.root", "ntuple": "Events"}: %s`, what,
			strings.TrimPrefix(err.Error(), "json: "))
	}
	return q, q.check(what)
}

func (q *Query) check(what string) error {
	if q.File == "" {
		return invalid("the %s names no file", what)
	}
	for _, p := range q.Fields {
		if _, err := path.Match(p, ""); p == "" || err != nil {
			return invalid("the %s has %q among its fields, which is neither a path nor a pattern", what, p)
		}
	}
	if q.First != nil && *q.First < 0 || q.End != nil && *q.End < 0 || q.First != nil &&
		q.End != nil && *q.End < *q.First {
		return invalid("the %s has a range of entries that is not one", what)
	}
	return nil
}

// parseDescriptor parses a descriptor.
func parseDescriptor(d *flight.FlightDescriptor) (*Query, error) {
	switch {
	case d.GetType() == flight.DescriptorCMD:
		return parseQuery("command", d.GetCmd())
	case d.GetType() == flight.DescriptorPATH && (len(d.GetPath()) == 1 || len(d.GetPath()) == 2):
		q := &Query{File: d.Path[0]}
		if len(d.Path) == 2 {
			q.Ntuple = d.Path[1]
		}
		return q, q.check("path")
	}
	return nil, invalid(`the descriptor is neither a path ["FILE", "NTUPLE"] nor a command`)
}
