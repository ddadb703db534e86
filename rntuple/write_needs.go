package rntuple

// Needs returns the limits that readers must raise, after Close or a checkpoint: those of
// which the entries need more than the default for a file of this size. The others are 0,
// and all of them are as a rule. Files that are very small for what they hold, such as a
// kilobyte with millions of equal numbers in one entry, look like attacks to readers.
//
// EntryBytes is what dynamic values need, as RecordsOf reads them and as the command "rnt
// cat" prints them; that is more than other Go types need, and it is an estimate, rather
// too high than too low. Entries that the RNTuple had before Append do not count.
func (w *common) Needs() Limits {
	w.mu.Lock()
	w.gather()
	w.mu.Unlock()
	need, size := w.ntuple.Needs()
	need.EntryBytes = w.outlets.EntryBytes(w.ntuple.Schema.Fields)
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
