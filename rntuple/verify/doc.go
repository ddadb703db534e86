// Package verify checks RNTuples and the ROOT files around them for damage.
//
// It checks the container with its header, directories, keys and free segments; anchors, envelopes
// and their checksums; the schema against the rules of the format; cluster groups, clusters and
// entries; the position and checksum of every page, and that it decompresses to the expected number
// of elements; the consistency of the numbers of elements, entries and collection items; the values
// of columns that refer to other columns; and zone maps against the values. It continues after a
// problem where possible. A file without problems can be read without errors, except those due to
// limits set by readers.
//
// A [Problem] is either [Damage] or an [Oddity], something unusual but harmless that other programs
// write.
//
// It cannot detect changes to bytes that are not covered by a checksum and not used by readers,
// such as dates and unused space, nor to values in pages without a checksum.
//
// Source: the specification and ROOT's behaviour; the checks name the sections.
package verify
