// Package rescue saves what is left of the RNTuples in a damaged ROOT file: one
// whose end is missing, whose writer crashed, or whose header, directories or
// anchors are broken. It writes a new file and never touches the damaged one.
//
// It trusts no bytes that it cannot prove. What proves a record is its checksum,
// and that page lists and footers name the checksum of their header. It needs
// nothing else: records are found by scanning the file.
//
//   - The header must be there; without it nobody knows what pages hold.
//   - The footer has the cluster groups. Of several, which checkpoints leave, the
//     newest that is whole counts.
//   - Page lists that no footer has, as they came after the last one, are found by
//     the scan, and continue the cluster groups where they fit without a choice.
//   - Pages are copied as they are. A cluster is saved if all of its pages are
//     there and pass their checksums.
//
// Pages that no page list describes are lost, though they may be whole. A page
// does not say which column it belongs to, nor how many elements it has. Even
// where the checksums tell where pages begin and end, and writers are known to
// write column by column, columns without elements have no pages and equal pages
// are stored once, so that several readings of the same bytes are possible.
// ROOT writes the page list of a cluster group behind its clusters, and all of a
// file is one group unless the writer asks for more: such a file whose end is
// missing has nothing to save.
//
// Fields added while the RNTuple was written are known to the footer only, and so
// are attribute sets; they are lost with it.
//
// What it does not do: RNTuples of pre-release formats are refused by name. Of
// several RNTuples with equal headers, only those are saved whose footer is left.
// Without an anchor, envelopes that are both compressed and spread over several
// keys are not found, and pages only if their maximal key size is the usual one,
// 1 GiB. A key counts if it stands where it says; so the file must begin where it
// began.
//
// Source: specification, sections "ROOT File embedding", "Envelopes", "Footer
// Envelope" and "Page List Envelope".
package rescue
