// Package pagecopy copies columns from a pagesource.Source to a pagesink.Sink: either whole
// clusters, whose pages are copied as stored, recompressed or re-encoded (Copier), or ranges of
// elements (Elements, Offsets and Tags), where pages entirely inside a range are copied as stored.
// It is the only package that imports both sides.
package pagecopy
