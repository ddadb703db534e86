package verify

import "fmt"

// String returns the counts as one line.
func (s *Summary) String() string {
	return fmt.Sprintf("problems: %d; checked: %d RNTuples, %d records, %d envelopes, %d clusters, %d pages (%d without checksum), %d bytes",
		s.Problems, s.RNTuples, s.Records, s.Envelopes, s.Clusters, s.Pages, s.Unsummed, s.Bytes)
}
