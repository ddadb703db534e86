package pagesink

// Full reports whether the current cluster has reached its size, so that EndEntries will commit
// it.
func (s *Sink) Full() bool {
	if s.unzipped < s.limit {
		return false
	}
	s.settle()
	if s.unzipped >= s.limit && s.pending != nil {
		s.wait() // its size makes the limit exact
		s.limit = s.estimate(s.zippedSum)
	}
	s.allot()
	return s.unzipped >= s.limit
}

// mostAhead is a number of entries from which on dispatch does not matter, small enough for
// most entries to stay in a cache while one field after the other is taken from them.
const mostAhead = 256

// Ahead returns how many of n entries, at least one, can be added before EndEntries is called
// without passing the end of the cluster, if they are at most eight times as large as those
// before.
func (s *Sink) Ahead(n int) int {
	s.settle()
	each := s.unzipped/max(1, s.filled) + 1
	return int(max(1, min(int64(n), s.filled, mostAhead, (s.limit-s.unzipped)/(8*each))))
}

// settle makes unzipped exact, by taking back room that buffers do not use.
func (s *Sink) settle() {
	for _, c := range s.columns {
		if c.buffer != nil {
			c.buffer.retract()
		}
	}
}

// allot divides what is left of the cluster among the columns. If they fill at the
// same pace, no buffer has to ask again; and the fewer bytes are left, the more often
// they are settled.
func (s *Sink) allot() {
	s.allowance = max(0, s.limit-s.unzipped) / int64(max(1, len(s.columns)))
}

// estimate returns how many uncompressed bytes make a cluster of the wanted size if
// the previous clusters take zipped bytes in the file. It computes as ROOT does.
func (s *Sink) estimate(zipped int64) int64 {
	wanted := s.set.ZippedCluster
	switch {
	case zipped > 0:
		ratio := min(1000, float32(s.unzippedSum)/float32(zipped))
		wanted = int64(ratio * float32(wanted))
	case s.set.Compression.Level() > 0:
		wanted *= 2
	}
	return min(wanted, s.set.UnzippedCluster)
}

// queueLength returns how many pages may wait for each worker: as many as fit into what
// the pages that are being filled leave of the budget.
func (s *Sink) queueLength() int {
	pages := (s.set.PageBudget - s.filling) / (s.set.MaxPage * int64(s.set.Workers))
	return int(min(max(pages, leastQueue), mostQueue))
}

// makeRoom flushes the pages of columns that have more memory than floor, until
// more bytes fit into the budget, and reports whether they do. It takes them in the
// order in which ROOT does: the largest first, of equal ones that of the last column,
// and none that has not grown yet.
func (s *Sink) makeRoom(more, floor int64) bool {
	floor = max(floor, initialPage)
	for s.filling+more > s.set.PageBudget {
		largest, size := -1, floor+1
		for i, n := range s.capacity {
			if n >= size {
				largest, size = i, n
			}
		}
		if largest < 0 {
			return false
		}
		s.columns[largest].buffer.flush()
	}
	return true
}
