package engine

import (
	"github.com/go-rntuple/go-rntuple/rntuple/verify"
)

// A Verdict is the answer to verify.
type Verdict struct {
	OK       bool      `json:"ok"`
	Findings []Finding `json:"findings"`
	Clusters int       `json:"clusters"` // that were checked, as the following
	Pages    Int       `json:"pages"`
	Bytes    Int       `json:"bytes"`    // of pages and envelopes
	Unsummed Int       `json:"unsummed"` // pages without a checksum
	Skipped  []string  `json:"skipped"`  // what was not checked, and why
}

// A Finding is something wrong.
type Finding struct {
	// error; warning, for what is newer than this library or above its limits; or oddity, which does
	// no harm
	Severity string `json:"severity"`
	What     string `json:"what"` // the kind of check, as container, envelope, pages
	Where    string `json:"where"`
	Offset   *Int   `json:"offset,omitempty"` // in the file
	Message  string `json:"message"`
}

// verify checks the file. With {ntuple}, what is wrong with other RNTuples is left out.
func (f *file) verify(c *call) (Answer, error) {
	var p struct{ NTuple string }
	if err := c.parse(&p); err != nil {
		return Answer{}, err
	}
	v := Verdict{OK: true, Findings: []Finding{}}
	s, err := verify.ReaderAt(c.ctx, f.r, f.r.Len(), func(problem verify.Problem) error {
		if p.NTuple != "" && problem.RNTuple != "" && problem.RNTuple != p.NTuple {
			return nil
		}
		to := Finding{Severity: "error", What: string(problem.Check), Where: problem.Path(), Message: problem.Err.Error()}
		switch problem.Kind() {
		case "unsupported":
			to.Severity = "warning"
		case "oddity":
			to.Severity = "oddity"
		}
		if problem.Offset >= 0 {
			offset := Int(problem.Offset)
			to.Offset = &offset
		}
		v.OK = v.OK && problem.Severity == verify.Oddity
		v.Findings = append(v.Findings, to)
		return nil
	}, &verify.Options{Workers: workers, Progress: func(done, total int64) { c.report(done, total, "bytes") }})
	if err != nil {
		return Answer{}, err
	}
	v.Clusters, v.Pages, v.Bytes, v.Unsummed = s.Clusters, Int(s.Pages), Int(s.Bytes), Int(s.Unsummed)
	v.Skipped = append([]string{}, s.Skipped...)
	return Answer{JSON: v}, nil
}
