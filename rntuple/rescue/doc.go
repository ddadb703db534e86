// Package rescue recovers RNTuples from a damaged ROOT file: one that is truncated, whose writer
// crashed, or whose header, directories or anchors are damaged. It writes a new file and never
// modifies the damaged one.
//
// It relies only on data that it can verify. Records are found by scanning the file and verified by
// their checksums; page lists and footers also contain the checksum of their header. Directories
// and anchors are not needed.
//
//   - The header must be intact; without it the contents of pages are unknown.
//   - The footer has the cluster groups. Checkpoints leave several footers; the newest
//     intact one is used.
//   - Page lists that were written after the last footer are found by the scan, and
//     continue the cluster groups if they do so unambiguously.
//   - Pages are copied as they are stored. A cluster is saved if all of its pages exist
//     and match their checksums.
//
// Pages that no page list describes are lost even if they are intact, because a page does
// not say which column it belongs to, nor how many elements it has. Checksums may show where
// pages begin and end, and writers are known to write column by column; but columns without
// elements have no pages, and equal pages are stored once, so that the same bytes can be
// interpreted in several ways. ROOT writes the page list of a cluster group after its
// clusters, and the whole file is one group unless the program asks for more: if the end of
// such a file is missing, there is nothing to save.
//
// Only the footer refers to attribute sets and to fields that were added during writing; they are
// lost with it.
//
// Limitations: RNTuples in pre-release formats are not recovered, but listed in the report. Of
// several RNTuples with identical headers, only those with an intact footer are saved. Without an
// anchor, envelopes that are both compressed and split over several keys are not found, and split
// pages are found only with the usual maximum key size, 1 GiB. Keys are recognized by the file
// position that they contain, so the beginning of the file must not be missing.
//
// Source: specification, sections "ROOT File embedding", "Envelopes", "Footer
// Envelope" and "Page List Envelope".
package rescue
