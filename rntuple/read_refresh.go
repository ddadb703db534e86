package rntuple

import "github.com/go-rntuple/go-rntuple/internal/ntuple"

// ErrReplaced reports that the RNTuple of a Reader has been replaced by another one in the file.
// See Reader.Refresh.
var ErrReplaced = ntuple.ErrReplaced

// Refresh returns a Reader of the latest committed state of the RNTuple, if a writer has appended
// to the open file since r was opened: it has the new entries, and new fields if the schema was
// extended. If nothing has been committed, Refresh returns r itself; this takes one read of less
// than 1 KiB, and one more for each directory that contains the RNTuple.
//
// r and its views remain valid and keep their number of entries. Both Readers share the file and
// the cached page lists; as with WithContext, closing either closes both, and only one of them must
// be closed:
//
//	next, err := r.Refresh()
//	if err != nil {
//		return err
//	}
//	r = next
//
// Refresh reads from the file that was opened: it does not detect that another file has been
// renamed to its path. If the RNTuple was replaced in the file, or has fewer entries than before,
// the error wraps ErrReplaced; if it was removed or renamed, ErrNotFound; if the file was
// truncated, ErrCorrupt. Readers from NewReaderFromAnchor, of bare files and of remote files cannot
// be refreshed; the error wraps ErrUnsupported. Readers from NewReader can, if their io.ReaderAt
// returns the current size of the file by a method Stat or Size, like os.File and bytes.Reader.
// Chains and Joins cannot be refreshed.
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
