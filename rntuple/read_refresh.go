package rntuple

import "github.com/go-rntuple/go-rntuple/internal/ntuple"

// ErrReplaced reports that a file no longer has the RNTuple that a Reader reads, but another
// one in its place. See Reader.Refresh.
var ErrReplaced = ntuple.ErrReplaced

// Refresh returns a Reader of what has been committed to the RNTuple since r was opened, by a
// writer that adds to the open file: it has the new entries, and new fields if the schema
// was extended. If nothing has been committed, Refresh returns r itself; it then takes one
// read of less than 1 KiB, and one more for each directory that the RNTuple is in.
//
// r and its views stay valid and keep their number of entries. Both Readers share the file
// and the page lists that have been read; as with WithContext, closing either closes both,
// and only one of them must be closed:
//
//	next, err := r.Refresh()
//	if err != nil {
//		return err
//	}
//	r = next
//
// The Reader stays with the file that was opened: it does not notice that another file has
// got its name. If another RNTuple has taken the place of this one in the file, or it has
// fewer entries than before, the error wraps ErrReplaced; if it was removed or renamed,
// ErrNotFound; if the file was truncated, ErrCorrupt. A Reader made by NewReaderFromAnchor, or
// of a bare file, or of a file at a URL, cannot be refreshed; the error wraps ErrUnsupported.
// One made by NewReader can, if its io.ReaderAt tells the present size of the file by a method
// Stat or Size, as those of os.File and bytes.Reader. Chains and joins cannot: they keep the
// entries that their inputs had.
func (r *Reader) Refresh() (*Reader, error) {
	fresh, err := r.ntuple.Refresh(r.ctx)
	switch {
	case err != nil:
		return nil, err
	case fresh == r.ntuple:
		return r, nil
	}
	return &Reader{fresh, r.ctx}, nil
}
