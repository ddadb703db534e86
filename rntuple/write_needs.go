package rntuple

// Needs returns the limits that readers must raise, after Close or a checkpoint: those of
// which the entries need more than the default for a file of this size. The others are 0,
// and all of them are as a rule. Files that are very small for what they hold, such as a
// kilobyte with millions of equal numbers in one entry, look like attacks to readers.
//
// EntryBytes is what dynamic values need, as RecordsOf reads them and as the command "rnt
// cat" prints them; that is more than other Go types need, and it is an estimate, rather
// too high than too low. Entries that the RNTuple had before Append do not count.
func (w *common) Needs() Limits { return above(w.needs(), w.FileSize()) }

// Needs returns, after Close, the limits that readers must raise for any of the RNTuples written to
// the file; see Writer.Needs.
func (f *File) Needs() Limits { return above(f.needs, f.Size()) }

// needs returns what readers need.
func (w *common) needs() Limits {
	w.mu.Lock()
	w.gather()
	w.mu.Unlock()
	need := Limits(w.ntuple.Needs())
	need.EntryBytes = w.outlets.EntryBytes(w.ntuple.Schema.Fields)
	return need
}

// above returns those of the limits that are above the defaults for a file of the given size, and 0
// for the others.
func above(need Limits, size int64) Limits {
	have := Limits{}.For(size)
	for _, l := range []struct {
		need *int64
		have int64
	}{{&need.PageBytes, have.PageBytes}, {&need.EntryBytes, have.EntryBytes}, {&need.EnvelopeBytes, have.EnvelopeBytes}} {
		if *l.need <= l.have {
			*l.need = 0
		}
	}
	return need
}

// raise raises limits to those that others need.
func raise(l *Limits, need Limits) {
	l.PageBytes, l.EntryBytes, l.EnvelopeBytes = max(l.PageBytes, need.PageBytes), max(l.EntryBytes, need.EntryBytes),
		max(l.EnvelopeBytes, need.EnvelopeBytes)
}
