package rntflight

import (
	"context"
	"encoding/json"
	"io/fs"
	"math"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/expression"
)

const (
	unitEntries = 100_000  // of a unit at least, or
	unitBytes   = 16 << 20 // in memory
	maxUnits    = 4096
	maxTickets  = 2 << 20 // bytes of all tickets of a FlightInfo
	maxListed   = 10_000
)

// units returns the ranges of entries that are read in parallel: clusters, joined to parts of about
// equal size that have enough, and cut where they are larger than such a part or where the query
// does: most of them at most. Those that zone maps rule out are left out. bytes is the footprint.
func (s *source) units(bytes int64, most int) (units []rntuple.EntryRange, err error) {
	clusters, err := s.Clusters()
	if err != nil {
		return nil, err
	}
	total := max(1, s.NumEntries())
	enough := min(unitEntries, max(1, unitBytes/max(1, bytes/total)))
	enough = max(enough, (s.entries.Len()+int64(most)-1)/int64(most))
	n, last := float64(max(1, s.entries.Len()/enough)), -1
	for _, c := range clusters {
		c = intersect(c, s.entries)
		// Two readers of a cluster decode the pages at the cut twice, which costs less than one that
		// waits for the other.
		pieces := int64(math.Round(float64(c.Len()) * n / float64(max(1, s.entries.Len()))))
		for ; c.Len() > 0; pieces-- {
			piece := rntuple.EntryRange{First: c.First, End: c.First + c.Len()/max(1, pieces)}
			c.First = piece.End
			// A piece belongs to the part that its middle is in, so that sizes differ by little more
			// than one piece.
			middle := float64(piece.First-s.entries.First) + float64(piece.Len())/2
			if part := int(middle * n / float64(s.entries.Len())); part != last {
				units, last = append(units, piece), part
			}
			units[len(units)-1].End = piece.End
		}
	}
	if s.where != nil {
		return s.possible(units)
	}
	return units, nil
}

// possible returns those of some units that may have entries that meet the condition, as far as
// zone maps tell.
func (s *source) possible(units []rntuple.EntryRange) (kept []rntuple.EntryRange, err error) {
	i := 0
	for p, err := range expression.Possible(s.Reader, s.entries, nil, s.where) {
		if err != nil {
			return nil, err
		}
		for ; i < len(units) && units[i].First < p.End; i++ {
			if units[i].End > p.First {
				kept = append(kept, units[i])
			}
		}
	}
	return kept, nil
}

// GetSchema returns the schema of the record batches that a descriptor asks for.
func (s *Server) GetSchema(ctx context.Context, d *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	result := new(flight.SchemaResult)
	err := s.handle(ctx, "GetSchema", s.lookups, func() (*Query, error) { return parseDescriptor(d) },
		func(ctx context.Context, c *call) error {
			return s.with(ctx, c.Query, func(src *source) error {
				result.Schema = flight.SerializeSchema(src.schema, memory.DefaultAllocator)
				return nil
			})
		})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// GetFlightInfo returns the schema of what a descriptor asks for, and endpoints for its parts.
func (s *Server) GetFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	info := new(flight.FlightInfo)
	err := s.handle(ctx, "GetFlightInfo", s.lookups, func() (*Query, error) { return parseDescriptor(d) },
		func(ctx context.Context, c *call) error {
			return s.with(ctx, c.Query, func(src *source) error {
				bytes, err := src.footprint()
				if err != nil {
					return err
				}
				units, err := src.units(bytes, min(maxUnits, max(1, maxTickets/len(c.json()))))
				if err != nil {
					return err
				}
				*info = *src.info(d, units)
				if src.condition == nil && src.entries.Len() == src.NumEntries() {
					info.TotalBytes = bytes
				}
				return nil
			})
		})
	if err != nil {
		return nil, err
	}
	return info, nil
}

// info returns the FlightInfo with an endpoint for each of some units.
func (s *source) info(d *flight.FlightDescriptor, units []rntuple.EntryRange) *flight.FlightInfo {
	info := &flight.FlightInfo{
		Schema:           flight.SerializeSchema(s.schema, memory.DefaultAllocator),
		FlightDescriptor: d,
		TotalRecords:     -1,
		TotalBytes:       -1,
		Ordered:          true,
	}
	if s.condition == nil {
		info.TotalRecords = s.entries.Len()
	}
	for _, u := range units {
		q := *s.query
		q.First, q.End, q.Version = &u.First, &u.End, s.version
		info.Endpoint = append(info.Endpoint, &flight.FlightEndpoint{Ticket: q.Ticket()})
	}
	return info
}

// ListFlights sends a FlightInfo for each RNTuple in the files below the folder whose names match
// the criteria.
func (s *Server) ListFlights(criteria *flight.Criteria, stream flight.FlightService_ListFlightsServer) error {
	match := string(criteria.GetExpression())
	parse := func() (*Query, error) {
		if _, err := path.Match(match, ""); err != nil {
			return nil, invalid("the criteria are not a pattern of names such as %q", "2024/*.root")
		}
		return &Query{File: match}, nil
	}
	return s.handle(stream.Context(), "ListFlights", s.lookups, parse, func(ctx context.Context, c *call) error {
		files := 0
		return fs.WalkDir(s.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil:
				s.options.Log.Warn("left out of the list", "file", name, "error", err)
				return nil
			case !matches(match, name) || !utf8.ValidString(name) || d.Type()&^fs.ModeSymlink != 0:
				return nil
			}
			if files++; files > maxListed {
				return status.Errorf(codes.ResourceExhausted, "more than %d files; use criteria that fewer match", maxListed)
			}
			return s.list(ctx, name, func(info *flight.FlightInfo) error {
				c.entries.Add(max(0, info.TotalRecords))
				return s.send(ctx, c, func() error { return stream.Send(info) })
			})
		})
	})
}

// matches reports whether the name of a file matches criteria.
func matches(criteria, name string) bool {
	if !strings.Contains(criteria, "/") {
		name = path.Base(name)
	}
	ok, _ := path.Match(criteria, name)
	return ok || criteria == ""
}

// list sends a FlightInfo for each RNTuple in a file. Files that are not ROOT files have none.
func (s *Server) list(ctx context.Context, name string, send func(*flight.FlightInfo) error) error {
	f, stat, err := s.open(name)
	if err != nil {
		return nil // a link that leads nowhere, a folder, a file that may not be read
	}
	defer f.Close()
	head := make([]byte, 4)
	if _, err := f.ReadAt(head, 0); err != nil || string(head) != "root" && string(head) != "rntu" {
		return nil
	}
	found, err := rntuple.List(contents{f}, stat.Size())
	if err != nil {
		if err := send(unreadable(&Query{File: name}, err)); err != nil {
			return err
		}
	}
	for _, i := range found {
		q := &Query{File: name, Ntuple: i.Path}
		info := func() *flight.FlightInfo {
			r, err := s.reader(ctx, f, stat.Size(), i.Path)
			if err == nil {
				src := &source{Reader: r, query: q, version: version(stat)}
				if err = src.resolve(); err == nil {
					return src.info(q.path(), []rntuple.EntryRange{src.entries})
				}
			}
			return unreadable(q, err)
		}()
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := send(info); err != nil {
			return err
		}
	}
	return nil
}

// path returns the descriptor of a query without fields and the like.
func (q *Query) path() *flight.FlightDescriptor {
	d := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{q.File}}
	if q.Ntuple != "" {
		d.Path = append(d.Path, strings.ToValidUTF8(q.Ntuple, "\ufffd"))
	}
	return d
}

// unreadable returns the FlightInfo of an RNTuple, or a file, that cannot be read.
func unreadable(q *Query, err error) *flight.FlightInfo {
	text, _ := json.Marshal(map[string]string{"error": err.Error()})
	return &flight.FlightInfo{FlightDescriptor: q.path(), TotalRecords: -1, TotalBytes: -1, AppMetadata: text}
}
