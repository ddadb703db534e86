package engine

// Stats is the answer to stats.
type Stats struct {
	Requests  Int `json:"requests"`  // reads of the file, or requests to its server
	BytesRead Int `json:"bytesRead"` // bytes that came
	BytesUsed Int `json:"bytesUsed"` // bytes that were wanted
	Reads     Int `json:"reads"`     // the same as Requests
}

// statistics says what was read of the open file.
func (f *file) statistics(*call) (Answer, error) {
	n := f.stats.Count()
	return Answer{JSON: Stats{Int(n.Requests), Int(n.Read), Int(n.Wanted), Int(n.Requests)}}, nil
}
