// Package verify checks RNTuples and the ROOT files around them for damage.
//
// It checks the container with its header, directories, keys and free segments; anchors, envelopes
// and their checksums; the schema against the rules of the format; cluster groups, clusters and
// entries; of every page the place, the checksum and that it decompresses to the expected number of
// elements; numbers of elements against those of the entries and collections that they belong to;
// and the values of columns that refer to other columns; and zone maps against the values. It
// continues after a problem where possible. A file without problems can be read without errors,
// apart from those for limits that readers set.
//
// A [Problem] is either [Damage] or an [Oddity]: something unusual that does no harm, as other
// programs leave it in files.
//
// It cannot notice changes to bytes that no checksum covers and no reader needs, such
// as dates and unused space, nor to values in pages without a checksum.
//
// Source: the specification and ROOT's behaviour; the checks name the sections.
package verify
