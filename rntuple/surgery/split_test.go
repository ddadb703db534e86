package surgery

import (
	"fmt"
	"testing"

	"github.com/go-rntuple/go-rntuple/rntuple"
)

// TestPartSizes cuts clusters into parts.
func TestPartSizes(t *testing.T) {
	var clusters []clusterSize // of 10, 20 and so on entries, and 5 bytes for each entry
	for first, n := int64(0), int64(10); n <= 50; n += 10 {
		clusters = append(clusters, clusterSize{rntuple.EntryRange{First: first, End: first + n}, n * 5})
		first += n
	}
	for _, c := range []struct {
		size PartSize
		ends string // of the parts
	}{
		{PartSize{Entries: 50}, "[50 100 150]"},
		{PartSize{Entries: 149}, "[149 150]"},
		{PartSize{Entries: 150}, "[150]"},
		{PartSize{Clusters: 1}, "[10 30 60 100 150]"},
		{PartSize{Clusters: 2}, "[30 100 150]"},
		{PartSize{Clusters: 5}, "[150]"},
		{PartSize{Bytes: 1}, "[10 30 60 100 150]"},
		{PartSize{Bytes: 150}, "[30 60 100 150]"},
		{PartSize{Bytes: 149}, "[10 30 60 100 150]"},
		{PartSize{Bytes: 350}, "[60 100 150]"},
		{PartSize{Bytes: 750}, "[150]"},
		{PartSize{}, ""},
		{PartSize{Entries: -1}, ""},
		{PartSize{Clusters: -1}, ""},
		{PartSize{Bytes: -1}, ""},
		{PartSize{Entries: 1, Bytes: 1}, ""},
		{PartSize{Entries: 1, Clusters: 1}, ""},
		{PartSize{Clusters: 1, Bytes: 1}, ""},
	} {
		ranges, err := c.size.ranges(clusters)
		if c.ends == "" {
			if err == nil {
				t.Errorf("%+v: %v", c.size, ranges)
			}
			continue
		}
		at, ends := int64(0), []int64{}
		for _, r := range ranges {
			if r.First != at {
				t.Errorf("%+v: %v", c.size, ranges)
			}
			at = r.End
			ends = append(ends, at)
		}
		if got := fmt.Sprint(ends); got != c.ends || err != nil {
			t.Errorf("%+v: parts end at %s, want %s; %v", c.size, got, c.ends, err)
		}
	}
	if ranges, err := (PartSize{Entries: 1}).ranges(nil); len(ranges) != 1 || ranges[0].Len() != 0 || err != nil {
		t.Errorf("no clusters: %v, %v", ranges, err)
	}
}
