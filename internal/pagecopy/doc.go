// Package pagecopy copies columns from a pagesource.Source to a pagesink.Sink: by
// whole clusters, whose pages are copied as they are stored, compressed anew or
// encoded anew (Copier), or by ranges of elements (Elements, Offsets and Tags), for
// which pages inside of a range are copied as they are stored. It is the only package
// that knows both sides.
package pagecopy
